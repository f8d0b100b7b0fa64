import { refuse } from '../lib/errors.ts'
import type { Comparison, FieldPath } from '../mapping/index.ts'
import { type Bounds, NONE, type Node, type Value } from './ast.ts'
import { createDateReader, type DateReader, type DateScope } from './dates/reader.ts'
import { boolean, type JsonNode, named, scalar, where } from './json-node.ts'
import { readDouble, readInteger, readLong, type Whole } from './numbers.ts'
import { isIn, range, tooLong } from './simplify.ts'
import { analyze, LONGEST_TOKEN } from './text/analysis.ts'

/** The field equals the value, as the field's encoding compares. */
export const equals = (field: FieldPath, place: JsonNode, dates: DateScope): Node =>
  EQUALS[field.compare](field, place, dates)

/** The field lies within the bounds. `dates` reads the values of date fields. */
export const within = (field: FieldPath, bounds: BoundPlaces, dates: DateReader): Node => {
  const found: { [bound in keyof Bounds]: Value } = {}
  for (const bound of ['gt', 'gte', 'lt', 'lte'] as const) {
    const place = bounds[bound]
    if (place !== undefined) Object.assign(found, BOUND[field.compare](field, place, bound, dates))
  }
  return range(field, found)
}

export type BoundPlaces = { readonly [bound in keyof Bounds]: JsonNode | undefined }

/** Whether the letter case of a text makes no difference to the field, so that a value is compared in lower case. */
export const ignoresCase = (field: FieldPath): boolean =>
  field.compare === 'hex' || (field.compare === 'token' && field.kind === 'address')

/** Whether values are compared by their letters. Digits of an integer are shown as a text, and compared as the integer. */
export const isText = ({ compare }: FieldPath): boolean => TEXT_COMPARISONS.has(compare)
const TEXT_COMPARISONS: ReadonlySet<Comparison> = new Set(['hex', 'exact', 'token'])

const comparedText = (field: FieldPath, place: JsonNode): string => {
  const text = scalar(place, 'a text')
  return ignoresCase(field) ? text.toLowerCase() : text
}

const equalsText = (field: FieldPath, place: JsonNode): Node => {
  const text = comparedText(field, place)
  // What is shown as hex begins so.
  if (field.compare === 'hex' && !text.startsWith('0x')) return NONE
  return tooLong(field, text) ? NONE : isIn(field, [text])
}

const EQUALS = {
  hex: equalsText,
  exact: equalsText,
  // What is no single token as the analysis leaves them, such as a text with capitals, equals none.
  token: (field, place) => {
    const text = comparedText(field, place)
    if (text.length > LONGEST_TOKEN) return NONE
    const tokens = analyze(text)
    return tokens.length === 1 && tokens[0] === text ? isIn(field, [text]) : NONE
  },
  long: (field, place) => {
    const { floor, exact } = readLong(field, place)
    return exact ? isIn(field, [floor]) : NONE
  },
  integer: (field, place) => {
    const { floor, exact } = readInteger(place)
    return exact ? isIn(field, [floor]) : NONE
  },
  double: (field, place) => isIn(field, [readDouble(place)]),
  boolean: (field, place) => isIn(field, [readBoolean(place)]),
  // A date that leaves something open, such as a day, equals every moment of it.
  instant: (field, place, { now, budget }) =>
    within(field, { gte: place, lte: place }, createDateReader({ now, budget })),
} as const satisfies Record<Comparison, (field: FieldPath, place: JsonNode, dates: DateScope) => Node>

type BoundName = keyof Bounds
type ReadBound = (field: FieldPath, place: JsonNode, bound: BoundName, dates: DateReader) => Bounds

const textBound: ReadBound = (field, place, bound) => ({ [bound]: comparedText(field, place) })

/** Between two integers, bounds move inwards. */
const integerBound = ({ floor, exact }: Whole, bound: BoundName): Bounds => {
  if (exact) return { [bound]: floor }
  return bound === 'gt' || bound === 'gte' ? { gte: floor + 1n } : { lte: floor }
}

const BOUND = {
  hex: textBound,
  exact: textBound,
  token: textBound,
  long: (field, place, bound) => integerBound(readLong(field, place), bound),
  integer: (_, place, bound) => integerBound(readInteger(place), bound),
  double: (_, place, bound) => ({ [bound]: readDouble(place) }),
  boolean: (_, place, bound) => ({ [bound]: readBoolean(place) }),
  // What a date leaves open is rounded so that `gt` and `lt` exclude all of it and `gte` and `lte` include it.
  instant: (_, place, bound, dates) => ({
    [bound]: dates.read(place, scalar(place, 'a date'), bound === 'gt' || bound === 'lte'),
  }),
} as const satisfies Record<Comparison, ReadBound>

const readBoolean = (place: JsonNode): boolean => {
  if (typeof place.value === 'boolean' || place.value === 'true' || place.value === 'false') return boolean(place)
  const received = scalar(place, 'true or false')
  throw refuse(
    'illegal_argument_exception',
    `${where(place)}: can't parse boolean value ${named(received)}, expected [true] or [false].`,
  )
}
