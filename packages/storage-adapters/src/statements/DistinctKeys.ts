/**
 * Hash set of texts that keeps no text: 12 bytes a slot, so that doubled accounts among millions of
 * lines are found in memory that a million texts would exceed many times.
 *
 * Two texts are taken for one where all 95 bits of their hashes are the same: among ten million texts
 * the chance is below 10^-14.
 */
export class DistinctKeys {
  #slots = new Uint32Array(3 * 1_024)
  #count = 0

  /** Adds a text; false where it was there already. */
  add(text: string): boolean {
    // Three quarters full: 4 × count is 3 × the slots, which is the array's length.
    if (this.#count * 4 >= this.#slots.length) this.#grow()
    let a = 0x811c9dc5
    let b = 0x9747b28c
    let c = 0x3c6ef372
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at)
      a = Math.imul(a ^ unit, 0x01000193)
      b = Math.imul((b ^ unit) + (b >>> 15), 0x85ebca6b)
      c = Math.imul((c ^ unit) + (c << 7), 0xc2b2ae35)
    }
    // A slot of three zeros is empty, so the last word is never zero.
    if (!this.#insert(mixed(a ^ (c >>> 11)), mixed(b ^ text.length), mixed(c ^ (a >>> 7)) | 1)) {
      return false
    }
    this.#count++
    return true
  }

  #insert(a: number, b: number, c: number): boolean {
    const slots = this.#slots
    const size = slots.length / 3
    const [first, second, third] = [a >>> 0, b >>> 0, c >>> 0]
    for (let slot = first & (size - 1); ; slot = (slot + 1) & (size - 1)) {
      const at = 3 * slot
      if (slots[at + 2] === 0) {
        slots[at] = first
        slots[at + 1] = second
        slots[at + 2] = third
        return true
      }
      if (slots[at] === first && slots[at + 1] === second && slots[at + 2] === third) return false
    }
  }

  #grow(): void {
    const before = this.#slots
    this.#slots = new Uint32Array(2 * before.length)
    for (let at = 0; at < before.length; at += 3) {
      const third = before[at + 2] ?? 0
      if (third !== 0) this.#insert(before[at] ?? 0, before[at + 1] ?? 0, third)
    }
  }
}

/** Spreads a hash over all of its bits. */
const mixed = (hash: number): number => {
  let spread = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  spread = Math.imul(spread ^ (spread >>> 13), 0xc2b2ae35)
  return spread ^ (spread >>> 16)
}
