/** Bytes as lower-case hex; half a byte at the start is padded. */
export const lowerHex = (hex: string): string => (hex.length % 2 ? `0x0${hex.slice(2)}` : hex).toLowerCase()

/** Some older nodes and exports write `validator_index`. */
export const snakeCase = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
