/** Migration: indexes that find the version of one record at a pin, however many came after it. */
export const statements: ReadonlyArray<string> = ["offset", "instant"].map(
  (point) => `create index document_record_closed_by_${point}
   on bursar.document (collection, record_id, to_${point}, version)
   where to_${point} is not null and version > 8`
)
