import { availableParallelism } from 'node:os'
import * as v from 'valibot'
import { isMemorySmall } from '../../lib/granted-memory.ts'

/**
 * A kind of setting: how a value is read, whether it came as text (flag, environment) or typed (config file). `takes`
 * completes the sentence "--port takes …"; `placeholder` stands for the value in usage texts.
 */
export interface Kind<T> {
  schema: v.GenericSchema<unknown, T>
  takes: string
  placeholder: string
  /** A bad value is not repeated in the error: it may hold a key. */
  secret?: true
  /** Its schema's own message is part of the error. */
  explains?: true
}

export const text = (takes: string, placeholder: string): Kind<string> => ({
  schema: v.pipe(v.string(), v.minLength(1)),
  takes,
  placeholder,
})

export const toggle: Kind<boolean> = {
  schema: v.union([
    v.boolean(),
    v.pipe(
      v.string(),
      v.regex(/^(true|false|1|0|yes|no)$/i),
      v.transform(text => /^(true|1|yes)$/i.test(text)),
    ),
  ]),
  takes: 'true or false',
  placeholder: 'BOOL',
}

export const integer = v.pipe(
  v.union([
    v.number(),
    v.pipe(
      v.string(),
      v.regex(/^\d+(_\d+)*$/),
      v.transform(text => Number(text.replaceAll('_', ''))),
    ),
  ]),
  v.safeInteger(),
)

export const count = (min: number, max = Number.MAX_SAFE_INTEGER): Kind<number> => ({
  schema: v.pipe(integer, v.minValue(min), v.maxValue(max)),
  takes: max === Number.MAX_SAFE_INTEGER ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`,
  placeholder: 'N',
})

export const port: Kind<number> = { ...count(0, 65_535), takes: 'a port from 0 (any free one) to 65535' }

/** A number from 1 on; `auto` is what the machine has room for. */
const sized = (auto: () => number, max: number): Kind<number> => ({
  schema: v.union([v.pipe(v.literal('auto'), v.transform(auto)), v.pipe(integer, v.minValue(1), v.maxValue(max))]),
  takes: `auto or an integer from 1 to ${max}`,
  placeholder: 'N',
})

/** Threads that search: one per core, at least two and at most eight. */
export const readers = sized(() => Math.min(8, Math.max(2, availableParallelism())), 64)

/** Threads that decode: one per core, besides the thread that writes. */
export const indexers = sized(() => Math.min(16, Math.max(1, availableParallelism() - 1)), 64)

/** Work in flight: `small` where the process has less than 512 MB. */
export const inFlight = (auto: number, small: number, max: number): Kind<number> =>
  sized(() => (isMemorySmall() ? small : auto), max)

export const table: Kind<Record<string, unknown>> = {
  schema: v.record(v.string(), v.unknown()),
  takes: 'a table',
  placeholder: 'TABLE',
}

export const oneOf = <const T extends string>(choices: readonly T[]): Kind<T> => ({
  schema: v.picklist(choices),
  takes: choices.join(' or '),
  placeholder: choices.join('|'),
})
