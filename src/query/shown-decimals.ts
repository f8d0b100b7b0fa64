import { scaled } from '../documents/show.ts'
import { sourceInteger } from './compare.ts'

/** An argument as documents show it. */
export interface ArgumentOfDocument {
  name: string
  value: { hex: string; scaled: number | null; type: string }
}

/** The decimals that integers are shown with; null without any. */
export const commonDecimals = (args: readonly ArgumentOfDocument[]): number | null => {
  const shown = args.filter(({ value }) => (value.scaled ?? null) !== null && sourceInteger(value) !== undefined)
  if (shown.length === 0) return null
  for (let decimals = 0; decimals <= MAX_SCALE; decimals++)
    if (shown.every(({ value }) => scaled(sourceInteger(value)!, decimals) === value.scaled)) return decimals
  return null
}

const MAX_SCALE = 255
