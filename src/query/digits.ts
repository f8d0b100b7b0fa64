import { integerOf } from './compare.ts'

/** The integer that `_source` shows in encodings, or as an argument's value; also of its digits. Undefined where it is none. */
export const integerIn = (shown: unknown): bigint | undefined => {
  if (typeof shown === 'string') return BigInt(shown)
  const { raw, type, hex } = shown as Record<string, unknown>
  if (typeof raw === 'string') return BigInt(raw)
  return typeof type === 'string' && typeof hex === 'string' ? integerOf({ type, hex }) : undefined
}
