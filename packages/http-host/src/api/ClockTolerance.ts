/** Clock tolerance of bearer tokens in seconds, for both the verification and the document. */
export const toleranceSeconds = 60
