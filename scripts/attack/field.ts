import type { FieldPath } from '../../src/mapping/index.ts'
import type { Value } from './json.ts'
import { type Reading, Refusal, textOf } from './reading.ts'

type Values = (found: readonly unknown[]) => boolean

/** What conditions on one field mean, by the way in which its values compare. */
interface FieldJudge {
  equals(value: Value): Values
  /** `bounds` may hold `gt gte lt lte`, and for dates `format` and `time_zone`. */
  within(bounds: Record<string, Value>): Values
}

/** Less than 0, 0, or more than 0: how a document's value stands to the one of the query. */
type Compare = (found: unknown) => number

export const judgeField = (field: FieldPath, reading: Reading): FieldJudge => {
  const unknown = (why: string): Compare => {
    reading.unknown(why)
    return () => 0
  }
  const compare = (value: Value): Compare => COMPARE[field.compare](value, field, unknown)
  const indexed = ({ ignoreAbove }: FieldPath, it: unknown) =>
    ignoreAbove === undefined || String(it).length <= ignoreAbove

  return {
    equals(value) {
      const to = compare(value)
      return found => found.some(it => indexed(field, it) && to(it) === 0)
    },
    within({ format, time_zone, ...bounds }) {
      if (format !== undefined) {
        if (typeof format !== 'string' || !isFormat(format)) throw new Refusal(`no format of dates: ${String(format)}`)
        reading.unknown('format')
      }
      if (time_zone !== undefined) {
        if (typeof time_zone !== 'string') throw new Refusal('no time zone')
        reading.unknown('time_zone')
      }
      const tests = Object.entries(BOUNDS).flatMap(([name, holds]) => {
        const value = bounds[name]
        if (value === undefined || value === null) return []
        // Under a format of its own the text may be anything.
        const to = format === undefined ? compare(value) : unknown('format')
        return [(it: unknown) => holds(to(it))]
      })
      return found => found.some(it => indexed(field, it) && tests.every(test => test(it)))
    },
  }
}

const BOUNDS: Record<string, (difference: number) => boolean> = {
  gt: it => it > 0,
  gte: it => it >= 0,
  lt: it => it < 0,
  lte: it => it <= 0,
}

/** Names of formats and patterns of Java letters; a name such as `constructor` is neither. */
const isFormat = (text: string): boolean =>
  text
    .split('||')
    .every(
      part =>
        /^(strict_)?(epoch|date|basic|year|hour|week|weekyear|ordinal|time|t_time|iso)[a-z_]*$/i.test(part) ||
        !/[^yuMLdDHhKkmsSnNaAeEcwWYGQqXxZzVvO]/.test(part.replace(/'[^']*'/g, '').replace(/[^A-Za-z]/g, '')),
    )

type Comparer = (value: Value, field: FieldPath, unknown: (why: string) => Compare) => Compare

const text =
  (normal: (text: string) => string): Comparer =>
  (value, _, unknown) => {
    const wanted = normal(textOf(value))
    if (!isAscii(wanted)) return unknown('text beyond ASCII')
    return found => {
      const it = normal(String(found))
      if (!isAscii(it)) unknown('text beyond ASCII')
      return it < wanted ? -1 : it > wanted ? 1 : 0
    }
  }

/** The order of other characters depends on how they are encoded. */
const isAscii = (text: string) => !/[^ -~]/.test(text)
const lower = (text: string) => text.toLowerCase()

const COMPARE: Record<FieldPath['compare'], Comparer> = {
  hex: text(lower),
  exact: text(it => it),
  token: (value, field, unknown) => {
    const wanted = field.kind === 'address' ? textOf(value).toLowerCase() : textOf(value)
    if (!/^[a-z0-9_]{0,255}$/i.test(wanted)) return unknown('a text of several words')
    // What has capitals is no word as the index holds it, and equals none; how it lies between others is another matter.
    return found => {
      const it = String(found)
      if (!/^[a-z0-9][a-z0-9_]{0,254}$/i.test(it)) unknown('a text of several words')
      const word = it.toLowerCase()
      return word < wanted ? -1 : word > wanted ? 1 : 0
    }
  },
  integer: (_value, _field, unknown) => unknown('digits, which no document shows'),
  long: (value, _, unknown) => {
    const said = textOf(value)
    if (typeof value === 'boolean') throw new Refusal('no number')
    if (/^0x[0-9a-f]+$/i.test(said)) return decimal(BigInt(said), 0)
    const [, whole, fraction = '', exponent = '0'] = /^(-?\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,9}))?$/.exec(said) ?? []
    if (whole === undefined) {
      if (/^[+-]?[\d.]/.test(said)) return unknown('an odd number')
      throw new Refusal('no number')
    }
    if (Math.abs(Number(exponent)) > 30 || said.length > 300) return unknown('a huge exponent')
    const scale = Number(exponent) - fraction.length
    return decimal(BigInt(whole + fraction), scale)
  },
  double: (value, _, unknown) => {
    const said = textOf(value)
    if (typeof value === 'boolean') throw new Refusal('no number')
    const number = Number(said)
    if (!/^-?\d+(\.\d+)?([eE][+-]?\d{1,9})?$/.test(said)) {
      if (/^[+-]?[\d.]/.test(said)) return unknown('an odd number')
      throw new Refusal('no number')
    }
    return Number.isFinite(number) ? found => Number(found) - number : unknown('beyond doubles')
  },
  boolean: value => {
    const said = textOf(value)
    if (said !== 'true' && said !== 'false') throw new Refusal('neither true nor false')
    return found => Number(found) - Number(said === 'true')
  },
  instant: (value, _, unknown) => {
    const said = textOf(value)
    const moment = (found: unknown) => (typeof found === 'string' ? Date.parse(`${found}Z`) : Number(found) * 1000)
    if (/^-?\d{1,10}$/.test(said)) return found => moment(found) - Number(said) * 1000
    if (!/\d/.test(said) && !said.startsWith('now')) throw new Refusal('no date')
    const [, day] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)Z?$/.exec(said) ?? []
    if (day === undefined) return unknown('a date of another form')
    const instant = Date.parse(`${day}Z`)
    return Number.isNaN(instant) ? unknown('no such day') : found => moment(found) - instant
  },
}

/** How integers stand to `digits` times ten to the power of `scale`, without a rounding. */
const decimal = (digits: bigint, scale: number): Compare => {
  const [up, down] = scale >= 0 ? [10n ** BigInt(scale), 1n] : [1n, 10n ** BigInt(-scale)]
  return found => {
    const difference = BigInt(found as number | bigint) * down - digits * up
    return difference < 0n ? -1 : difference > 0n ? 1 : 0
  }
}
