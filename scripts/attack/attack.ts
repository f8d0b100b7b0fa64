import type { Random } from '../lib/random.ts'
import type { ServeOptions, Victim } from './server.ts'

export interface Attack {
  name: string
  /** What is tried, for the table and the help text. */
  is: string
  run(context: Context): Promise<Outcome>
}

export interface Context {
  seed: number
  /** Numbers of the tries: as many as were asked for, or the attack's own count, until the time is up. Workers may share them. */
  tries(count: number): Iterable<number>
  /** Random numbers that belong to one try: the same whatever was tried before, so that a try can be repeated alone. */
  random(attempt: number): Random
  /** Starts the built program; it is watched while it runs, and ended after the attack. */
  serve(options?: ServeOptions): Promise<Victim>
  program: string
  folder: string
}

export interface Outcome {
  tries: number
  findings: Finding[]
  /** Longest time that one try took, in milliseconds. */
  worstMs: number
  notes?: string[]
}

export interface Finding {
  /** The promise that is broken, in few words: findings are counted by it. */
  what: string
  /** Number of the try, where it can be repeated by it. */
  attempt?: number
  /** What was sent or changed, and what came of it. */
  how: string
  /** Something took too long, which a busy machine may be the reason of. */
  isTime?: boolean
}

export interface Try {
  attempt: number
  random: Random
  find(what: string, how: string, isTime?: boolean): void
}

/**
 * Makes the tries, so many at once, and takes the time of each. `work` may tell another time than it took itself, or make an end of all
 * tries by `false`.
 */
export const tryEach = async (
  { tries, random }: Pick<Context, 'tries' | 'random'>,
  count: number,
  work: (one: Try, lane: number) => unknown,
  lanes = 1,
): Promise<Outcome> => {
  const outcome: Outcome = { tries: 0, findings: [], worstMs: 0 }
  const numbers = tries(count)[Symbol.iterator]()
  const lane = async (_: unknown, number: number) => {
    for (let next = numbers.next(); next.done !== true; next = numbers.next()) {
      const attempt = next.value
      const find: Try['find'] = (what, how, isTime) =>
        void outcome.findings.push({ what, attempt, how, ...(isTime && { isTime }) })
      const start = performance.now()
      const told = await work({ attempt, random: random(attempt), find }, number)
      outcome.tries++
      outcome.worstMs = Math.max(outcome.worstMs, typeof told === 'number' ? told : performance.now() - start)
      if (told === false) return
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return outcome
}

export const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)]!

export const chance = (random: Random, probability: number): boolean => random.unit() < probability

export const brief = (text: string, most = 600): string =>
  text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`
