/** A failure of the demo's surroundings: its message is a sentence for a person, who needs no stack. */
export class DemoFailed extends Error {}
