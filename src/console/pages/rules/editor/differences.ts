import { type Json, type JsonObject, member, toJson } from '../../../api/json.ts'
import { put } from '../model.ts'

/** A part of a rule that two people have written differently. */
export interface Difference {
  path: string
  base: Json | undefined
  mine: Json | undefined
  theirs: Json | undefined
  /** Whose is taken unless the user chooses: of what only one has changed, that one's. */
  choice: 'mine' | 'theirs'
  /** Both have changed it. */
  both: boolean
}

const CONFIG = 'config'

/** Conditions and receivers are each one part: half of each would be a rule that nobody has written. */
export const differencesOf = (base: JsonObject, mine: JsonObject, theirs: JsonObject): Difference[] => {
  const parts = (rule: JsonObject): [string, Json][] => [
    ...Object.entries(rule).filter(([name]) => name !== CONFIG),
    ...Object.entries(rule[CONFIG] ?? {}).map(([name, value]): [string, Json] => [`${CONFIG}.${name}`, value as Json]),
  ]
  const [was, own, others] = [base, mine, theirs].map(rule => new Map(parts(rule))) as [
    Map<string, Json>,
    Map<string, Json>,
    Map<string, Json>,
  ]
  const paths = [...new Set([...own.keys(), ...others.keys()])]
  return paths.flatMap((path): Difference[] => {
    const [before, my, their] = [was.get(path), own.get(path), others.get(path)]
    if (isSame(my, their)) return []
    const [mineChanged, theirsChanged] = [!isSame(before, my), !isSame(before, their)]
    const choice = mineChanged ? 'mine' : 'theirs'
    return [{ path, base: before, mine: my, theirs: their, choice, both: mineChanged && theirsChanged }]
  })
}

/** What is theirs, with the parts of mine that are chosen. */
export const mergedOf = (theirs: JsonObject, differences: readonly Difference[]): JsonObject =>
  differences.reduce((rule, { path, mine, choice }) => {
    if (choice === 'theirs') return rule
    const [first, inner] = path.startsWith(`${CONFIG}.`) ? [CONFIG, path.slice(CONFIG.length + 1)] : [path]
    return inner === undefined ? put(rule, first!, mine) : put(rule, CONFIG, put(rule[CONFIG], inner, mine))
  }, theirs)

/** The order of members does not count. */
const isSame = (a: Json | undefined, b: Json | undefined): boolean => sorted(a) === sorted(b)

const sorted = (value: Json | undefined): string =>
  Array.isArray(value)
    ? `[${value.map(sorted)}]`
    : typeof value === 'object' && value !== null
      ? `{${Object.keys(value)
          .sort()
          .map(name => `${toJson(name)}:${sorted(member(value, name))}`)}}`
      : value === undefined
        ? ''
        : toJson(value)
