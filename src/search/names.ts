import { type Limits, overLimit } from '../limits/index.ts'
import { cut } from '../query/cut.ts'

/** Counts the names and patterns that one request lists, and refuses what is beyond the limits before any of them is looked up. */
export type NameCounter = (names: Iterable<string>) => void

export const createNameCounter = (limits: Limits): NameCounter => {
  let count = 0
  let patterns = 0
  return names => {
    for (const name of names) {
      if (name.length > limits.nameLength) throw overLimit('nameLength', limits, `[${cut(name)}]`)
      if (++count > limits.names) throw overLimit('names', limits)
      if (name.includes('*') && ++patterns > limits.patterns) throw overLimit('patterns', limits)
    }
  }
}
