import type { Limits } from '../../limits/index.ts'
import { createNameCounter, type NameCounter } from '../../search/names.ts'
import { findTarget, type IndexOptions, type Target } from '../../search/target.ts'

/** The names that one request lists: they are counted together, and each list is looked up once. */
export interface Names {
  count: NameCounter
  /** Those in a text with commas between them, each once. */
  listed(text: string): string[]
  /** What names of indexes mean in the networks of the path. */
  target(network: string, expression: string, networks: readonly string[], options: IndexOptions): Target
}

export const createNames = (limits: Limits): Names => {
  const count = createNameCounter(limits)
  const targets = new Map<string, () => Target>()
  return {
    count,
    listed(text) {
      const names = [...new Set(namesIn(text))]
      count(names)
      return names
    },
    target(network, expression, networks, options) {
      const key = JSON.stringify([expression, options])
      let found = targets.get(key)
      if (!found) {
        found = outcomeOf(() => findTarget(network, expression, networks, { ...options, counted: count }))
        targets.set(key, found)
      }
      return found()
    },
  }
}

/** What came of it: a value, or an error to be thrown. */
const outcomeOf = <T>(work: () => T): (() => T) => {
  try {
    const value = work()
    return () => value
  } catch (error) {
    return () => {
      throw error
    }
  }
}

export const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map(name => name.trim())
    .filter(name => name !== '')
