/** How far the clocks of the identity provider and the engine may be apart, in seconds: what the document says is what is judged by. */
export const toleranceSeconds = 60
