/** Migration: credentials of offers that were accepted past their time are counted under the holder cap. */
export const statements: ReadonlyArray<string> = [
  // Versions of before are read by their filters too, at an old pin.
  `update bursar.document
   set filters = filters || jsonb_build_object('acceptedLate', filters -> 'instrumentId')
   where collection = 'admission'
     and filters ->> 'state' = 'expired'
     and body::jsonb ->> 'admittedAt' is null
     and body::jsonb ->> 'credentialCid' is not null`
]
