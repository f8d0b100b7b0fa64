import type { Random } from '../bench/random.ts'
import type { ServeOptions, Victim } from './server.ts'

/** One way to attack the program. */
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
  /** Path of the built program. */
  program: string
  /** A folder that is removed after the attack. */
  folder: string
}

export interface Outcome {
  tries: number
  findings: Finding[]
  /** Longest time that one try took, in milliseconds. */
  worstMs: number
  /** What else is worth to be known, a line each. */
  notes?: string[]
}

/** Something that must not happen. */
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

export const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)]!

export const chance = (random: Random, probability: number): boolean => random.unit() < probability

/** A text that fits a line of the report. */
export const brief = (text: string, most = 600): string =>
  text.length <= most ? text : `${text.slice(0, most)}… (${text.length} characters)`
