import { type FieldPath, type Kind, lookup } from '../mapping/index.ts'
import { ALL, type Compare, type Exact, NONE, type Node, type Operand } from '../query/ast.ts'
import { ceil, floor, showExact } from '../query/exact.ts'
import { and, exists, GREATEST_LONG, isIn, LEAST_LONG, nested, not, or, range } from '../query/simplify.ts'
/**
 * A condition on an argument in terms of the index: the argument's name, and the hex or number of
 * its value. The index knows nothing of what is inside of tuples and arrays.
 */
export const argumentHint = (kind: Kind, compare: Compare): Node => {
  const [list = '', name, ...steps] = compare.steps
  if (name === undefined) return NONE
  const member = (path: string): FieldPath => lookup(kind, `${list}.${path}`)!
  const fields: Fields = {
    hex: member('value.hex'),
    num: member('value.num'),
    scaled: member('value.scaled'),
    type: member('value.type'),
  }
  const place = /^\d{1,15}$/.test(name) ? isIn(member('pos'), [BigInt(name)]) : NONE
  const role = name.length > LONGEST ? ALL : or([isIn(member('name'), [name]), place])
  const [property = '', ...deeper] = steps.slice(steps.findLastIndex((_, i) => isRunOfValue(steps, i)) + 1)
  if (deeper.length > 0 || !isProperty(property)) return nested(list, role)
  const value = valueHint(property, fields, compare)
  // A tuple may have a component of that name.
  const inTuple = steps.length === 0 ? NONE : isTuple(fields.type)
  return nested(list, and([role, or([value, inTuple])]))
}

interface Fields {
  hex: FieldPath
  num: FieldPath
  scaled: FieldPath
  type: FieldPath
}

/** Longer texts are not indexed. */
const LONGEST = 256

/** `value` may stand between an argument and its properties. */
const isRunOfValue = (steps: readonly string[], to: number): boolean =>
  steps.slice(0, to + 1).every(step => step === 'value')

type Property = '' | 'hex' | 'num' | 'scaled' | 'type'
const isProperty = (step: string): step is Property => ['', 'hex', 'num', 'scaled', 'type'].includes(step)

/** Types with components begin with a parenthesis; very long ones are not indexed. */
const isTuple = (type: FieldPath): Node => or([range(type, { gte: '(', lt: ')' }), not(exists(type))])

const valueHint = (property: Property, fields: Fields, compare: Compare): Node => {
  if (property === 'scaled' || (compare.scaled && (property === '' || property === 'num')))
    return scaledHint(fields, compare)
  if (compare.scaled) return NONE
  const { how, operands } = compare
  if (how === 'equal') return or(operands.map(operand => EQUAL[property](fields, operand, compare)))
  const number = operands[0]?.number
  if ((property !== '' && property !== 'num') || number === undefined) return ALL
  // Values beyond 64-bit integers are compared separately: integers as numbers, all others as text.
  const rest = not(exists(fields.num))
  const bounds = integersFrom(how, number)
  const { num } = fields
  const within =
    'most' in bounds
      ? bounds.most > GREATEST_LONG
        ? exists(num)
        : range(num, { lte: bounds.most })
      : bounds.least < LEAST_LONG
        ? exists(num)
        : range(num, { gte: bounds.least })
  return or([within, rest])
}

/** Both sides are doubles: rounding keeps the order. */
const scaledHint = ({ scaled }: Fields, { how, operands }: Compare): Node => {
  if (how === 'equal')
    return or(
      operands.map(({ number }) => {
        if (number === undefined) return NONE
        const nearest = doubleOf(number)
        return Number.isFinite(nearest) ? isIn(scaled, [nearest]) : exists(scaled)
      }),
    )
  const number = operands[0]?.number
  return number === undefined ? exists(scaled) : doublesFrom(scaled, how, number)
}

type EqualHint = (fields: Fields, operand: Operand, compare: Compare) => Node

const ownEqual: EqualHint = (fields, operand, { ignoreCase }) => {
  const { text } = operand
  const found = [...integerHexes(operand)]
  const others: Node[] = []
  const lower = text.toLowerCase()
  if (lower === 'true') found.push('0x1')
  if (lower === 'false') found.push('0x0')
  // Addresses, bytes, hashes of indexed arguments, the encoding of arrays and tuples.
  if (PLAIN_HEX.test(lower)) {
    if (lower.length <= LONGEST) found.push(lower)
    else others.push(not(exists(fields.hex)))
  }
  const utf8 = `0x${Buffer.from(text).toString('hex')}`
  // Bytes that are no UTF-8 are read as U+FFFD.
  if (ignoreCase || utf8.length > LONGEST || text.includes('\ufffd')) others.push(isIn(fields.type, ['string']))
  else if (text.isWellFormed()) found.push(utf8)
  return or([isIn(fields.hex, found), ...others])
}

const EQUAL: Record<Property, EqualHint> = {
  '': ownEqual,
  num: ({ hex }, operand) => isIn(hex, integerHexes(operand)),
  hex: ({ hex }, { text, number }) => {
    const lower = text.toLowerCase()
    if (lower.length > LONGEST) return number === undefined ? not(exists(hex)) : ALL
    const quantity = number?.scale === 0 && number.digits >= 0n ? [`0x${number.digits.toString(16)}`] : []
    return isIn(hex, [lower, ...quantity])
  },
  type: ({ type }, { text }) => (text.length > LONGEST ? not(exists(type)) : isIn(type, [text.toLowerCase()])),
  scaled: () => ALL,
}

const PLAIN_HEX = /^0x[0-9a-f]*$/

/** All hex forms of an integer: negative ones in two's complement of each width. */
const integerHexes = ({ number }: Operand): string[] => {
  if (number === undefined || number.scale > 0) return []
  const { digits } = number
  if (digits >= 0n) return digits < 2n ** 256n ? [`0x${digits.toString(16)}`] : []
  const hexes: string[] = []
  for (let bits = 8; bits <= 256; bits += 8)
    if (BigInt.asIntN(bits, digits) === digits) hexes.push(`0x${BigInt.asUintN(bits, digits).toString(16)}`)
  return hexes
}

export type Order = Exclude<Compare['how'], 'equal'>
export type IntegerBounds = { least: bigint } | { most: bigint }
/** The integers in that order to a number. */
export const integersFrom = (how: Order, number: Exact): IntegerBounds => {
  switch (how) {
    case 'greater':
      return { least: floor(number) + 1n }
    case 'greaterOrEqual':
      return { least: ceil(number) }
    case 'less':
      return { most: ceil(number) - 1n }
    case 'lessOrEqual':
      return { most: floor(number) }
  }
}
/** The doubles in that order to a number. The bound may have been rounded, and is included. */
export const doublesFrom = (field: FieldPath, how: Order, number: Exact): Node => {
  const bound = doubleOf(number)
  if (!Number.isFinite(bound)) return exists(field)
  return range(field, how === 'greater' || how === 'greaterOrEqual' ? { gte: bound } : { lte: bound })
}
export const doubleOf = (number: Exact): number => Number(showExact(number))
