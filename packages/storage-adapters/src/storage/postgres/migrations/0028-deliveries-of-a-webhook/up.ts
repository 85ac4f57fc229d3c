/** Migration: the deliveries of a webhook are listed newest first, in the order of the list. */
export const statements: ReadonlyArray<string> = [
  `create index document_webhook
   on bursar.document (collection, (filters ->> 'webhookId'), sort_key)
   where to_offset is null and filters ->> 'webhookId' is not null`
]
