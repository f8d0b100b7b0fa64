import * as v from 'valibot'
import { didYouMean } from '../../lib/nearest.ts'
import { parseTime } from '../../lib/time.ts'
import { BY_CALLS, BY_HOST, isCosts, PROVIDERS, type Rate } from '../../limits/credits.ts'
import { isLimit, LIMITS, type LimitName, parseAmount, TAKES } from '../../limits/index.ts'
import { integer, type Kind } from './plain.ts'

const measured = (units: Record<string, number>, max: number) => {
  const scales = new Map(Object.entries(units))
  return v.pipe(
    v.string(),
    v.transform(text => text.match(/^(\d+(?:\.\d+)?) ?([a-z]+)$/i)),
    v.nonNullable(v.any()),
    v.transform(([, amount, unit]) => Math.round(Number(amount) * (scales.get(unit.toLowerCase()) ?? Number.NaN))),
    v.safeInteger(),
    v.minValue(0),
    v.maxValue(max),
  )
}

/** Milliseconds. */
export const duration: Kind<number> = {
  schema: measured({ ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }, 100 * 366 * 86_400_000),
  takes: 'a time with its unit (ms, s, m, h, d, w), such as 10s',
  placeholder: 'TIME',
}

/** A point in time, as epoch milliseconds. */
export const moment: Kind<number> = {
  schema: v.pipe(v.string(), v.transform(parseTime), v.number()),
  takes: 'a time in ISO 8601, such as 2024-05-17T12:00:00Z',
  placeholder: 'TIME',
}

/** So many of something: thousands, millions and billions may be written as 3k, 3M and 3B. */
export const amount: Kind<number> = {
  schema: v.pipe(
    v.union([
      integer,
      v.pipe(
        v.string(),
        v.transform(text => text.match(/^(\d+(?:\.\d+)?)([kmb])$/i)),
        v.nonNullable(v.any()),
        v.transform(([, digits, unit]) =>
          Math.round(Number(digits) * THOUSANDS[unit.toLowerCase() as 'k' | 'm' | 'b']),
        ),
        v.safeInteger(),
      ),
    ]),
    v.minValue(1),
  ),
  takes: 'a number, such as 3M or 250k',
  placeholder: 'N',
}

const THOUSANDS = { k: 1e3, m: 1e6, b: 1e9 } as const

/** Most in any second. */
export const rate: Kind<Rate> = {
  schema: v.pipe(
    v.string(),
    v.transform(text => text.match(/^(\d{1,9})( ?(?:calls|credits))?\/s$/)),
    v.nonNullable(v.any()),
    v.transform(([, most, of]): Rate => ({ most: Number(most), of: of?.trim() === 'credits' ? 'credits' : 'calls' })),
    v.check(({ most }) => most >= 1),
  ),
  takes: 'a number of calls or credits a second, such as 25/s or 500credits/s',
  placeholder: 'N/s',
}

/** What calls cost. */
export const costs: Kind<string> = {
  schema: v.pipe(v.string(), v.check(isCosts)),
  takes: `${[BY_HOST, BY_CALLS, ...PROVIDERS.keys()].join(', ')}, or METHOD=CREDITS such as eth_getLogs=75`,
  placeholder: 'NAME|METHOD=N',
}

const BYTES = { b: 1, kb: 1_000, mb: 1_000_000, gb: 1e9, kib: 1_024, mib: 1_048_576, gib: 2 ** 30 }

/** Bytes. */
export const size: Kind<number> = {
  schema: measured(BYTES, 2 ** 31),
  takes: 'a size with its unit (B, kB, MB, GB, KiB, MiB, GiB), such as 16MB',
  placeholder: 'SIZE',
}

/** Bytes of a disk. */
export const space: Kind<number> = {
  ...size,
  schema: measured({ ...BYTES, tb: 1e12, tib: 2 ** 40 }, 2 ** 50),
  takes: 'a size with its unit (MB, GB, TB, MiB, GiB, TiB), such as 8GB',
}

/** One limit with its new value, `name=value`. */
export const limit: Kind<readonly [name: LimitName, most: number]> = {
  schema: v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      const [, name = '', amount = ''] = /^([a-z][a-zA-Z]*)=(.*)$/.exec(dataset.value) ?? []
      if (isLimit(name)) {
        const { unit } = LIMITS[name]
        const most = parseAmount(unit, amount)
        if (most !== undefined) return [name, most] as const
        addIssue({ message: `${name} takes ${TAKES[unit]}` })
      } else addIssue({ message: `there is no limit ${JSON.stringify(name)}.${didYouMean(name, Object.keys(LIMITS))}` })
      return NEVER
    }),
  ),
  takes: 'the name of a limit and its value, such as clauses=2000',
  placeholder: 'NAME=VALUE',
  explains: true,
}
