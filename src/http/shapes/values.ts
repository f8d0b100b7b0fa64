import * as v from 'valibot'
import { parseTime } from '../../lib/time.ts'

/** A shape defines a value's type, the check of bodies, the API schema and the console's type. */
export type HttpShape = v.GenericSchema
export type Of<S extends HttpShape> = v.InferOutput<S>

export const str = v.string()
export const flag = v.boolean()
export const num = v.number()
export const int = v.pipe(v.number(), v.integer())
export const timestamp = v.pipe(v.string(), v.isoTimestamp())
export const anyRecord = v.looseObject({})
export const anything = v.unknown()

export const strict = v.strictObject
/** Later versions may add members. */
export const extensible = v.object
export const may = v.optional
export const orNull = v.nullable
export const arrayOf = v.array
export const choiceOf = v.picklist
export const unionOf = v.union
export const literalOf = v.literal
export const mapOf = <S extends HttpShape>(values: S) => v.record(v.string(), values)
export const described = <S extends HttpShape>(description: string, shape: S) =>
  v.pipe(shape, v.description(description))
export const intFrom = (least: number) => v.pipe(int, v.minValue(least))
/** A value of any form, with a JSON Schema of its own. */
export const json = <T = unknown>(schema: object) =>
  v.pipe(v.unknown() as v.GenericSchema<T>, v.metadata({ ...schema }))
/** A schema that is generated from another table. */
export const refTo = <T = unknown>(name: string) => json<T>({ $ref: `#/components/schemas/${name}` })

export const ranges = arrayOf(strict({ from: int, to: int }))

/** For bodies: messages name the expected value. */
export const intBetween = ({ min, max }: { min: number; max?: number }) => {
  const what = max === undefined ? `an integer of at least ${min}` : `an integer from ${min} to ${max}`
  const isSafe = v.check((value: number) => Number.isSafeInteger(value), what)
  const unbounded = v.pipe(v.number(what), v.integer(what), isSafe, v.minValue(min, what))
  return max === undefined ? unbounded : v.pipe(unbounded, v.maxValue(max, what))
}
export const filled = (what = 'a string that is not empty') =>
  v.pipe(
    v.string(what),
    v.check(value => value !== '', what),
  )
export const trueOrFalse = v.boolean('true or false')
/** Epoch milliseconds of an ISO 8601 time; UTC without a zone, as everywhere. */
const WHEN = 'a time in ISO 8601 such as "2024-05-17T12:00:00Z"'
const readTime = (value: unknown) => (typeof value === 'string' ? parseTime(value) : undefined)
export const instant = v.pipe(
  v.unknown(),
  v.check(value => readTime(value) !== undefined, WHEN),
  v.metadata({ type: 'string', format: 'date-time' }),
  v.transform(value => readTime(value)!),
)
