import { type FieldPath, type Kind, lookup } from '../mapping/index.ts'
import { ALL_NODE, type CompareNode, type CompareOperand, type Exact, NONE_NODE, type Node } from '../query/ast.ts'
import { ceilExact, floorExact, showExact } from '../query/exact.ts'
import {
  andNode,
  existsNode,
  GREATEST_LONG,
  inNode,
  LEAST_LONG,
  nestedNode,
  notNode,
  orNode,
  rangeNode,
} from '../query/simplify.ts'
/**
 * A condition on an argument in terms of the index: the argument's name, and the hex or number of
 * its value. The index knows nothing of what is inside of tuples and arrays.
 */
export const argumentHint = (kind: Kind, compare: CompareNode): Node => {
  const [list = '', name, ...steps] = compare.steps
  if (name === undefined) return NONE_NODE
  const member = (path: string): FieldPath => lookup(kind, `${list}.${path}`)!
  const fields: ArgumentFields = {
    hex: member('value.hex'),
    num: member('value.num'),
    scaled: member('value.scaled'),
    type: member('value.type'),
  }
  const place = /^\d{1,15}$/.test(name) ? inNode(member('pos'), [BigInt(name)]) : NONE_NODE
  const role = name.length > MAX_HINT_CHARACTERS ? ALL_NODE : orNode([inNode(member('name'), [name]), place])
  const [property = '', ...deeper] = steps.slice(steps.findLastIndex((_, i) => isRunOfValue(steps, i)) + 1)
  if (deeper.length > 0 || !isArgumentProperty(property)) return nestedNode(list, role)
  const value = valueHint(property, fields, compare)
  // A tuple may have a component of that name.
  const inTuple = steps.length === 0 ? NONE_NODE : isTuple(fields.type)
  return nestedNode(list, andNode([role, orNode([value, inTuple])]))
}

interface ArgumentFields {
  hex: FieldPath
  num: FieldPath
  scaled: FieldPath
  type: FieldPath
}

/** Longer texts are not indexed. */
const MAX_HINT_CHARACTERS = 256

/** `value` may stand between an argument and its properties. */
const isRunOfValue = (steps: readonly string[], to: number): boolean =>
  steps.slice(0, to + 1).every(step => step === 'value')

type ArgumentProperty = '' | 'hex' | 'num' | 'scaled' | 'type'
const isArgumentProperty = (step: string): step is ArgumentProperty =>
  ['', 'hex', 'num', 'scaled', 'type'].includes(step)

/** Types with components begin with a parenthesis; very long ones are not indexed. */
const isTuple = (type: FieldPath): Node => orNode([rangeNode(type, { gte: '(', lt: ')' }), notNode(existsNode(type))])

const valueHint = (property: ArgumentProperty, fields: ArgumentFields, compare: CompareNode): Node => {
  if (property === 'scaled' || (compare.scaled && (property === '' || property === 'num')))
    return scaledHint(fields, compare)
  if (compare.scaled) return NONE_NODE
  const { how, operands } = compare
  if (how === 'equal') return orNode(operands.map(operand => EQUAL_HINTS[property](fields, operand, compare)))
  const number = operands[0]?.number
  if ((property !== '' && property !== 'num') || number === undefined) return ALL_NODE
  // Values beyond 64-bit integers are compared separately: integers as numbers, all others as text.
  const rest = notNode(existsNode(fields.num))
  const bounds = integersFrom(how, number)
  const { num } = fields
  const within =
    'most' in bounds
      ? bounds.most > GREATEST_LONG
        ? existsNode(num)
        : rangeNode(num, { lte: bounds.most })
      : bounds.least < LEAST_LONG
        ? existsNode(num)
        : rangeNode(num, { gte: bounds.least })
  return orNode([within, rest])
}

/** Both sides are doubles: rounding keeps the order. */
const scaledHint = ({ scaled }: ArgumentFields, { how, operands }: CompareNode): Node => {
  if (how === 'equal')
    return orNode(
      operands.map(({ number }) => {
        if (number === undefined) return NONE_NODE
        const nearest = doubleOf(number)
        return Number.isFinite(nearest) ? inNode(scaled, [nearest]) : existsNode(scaled)
      }),
    )
  const number = operands[0]?.number
  return number === undefined ? existsNode(scaled) : doublesFrom(scaled, how, number)
}

type EqualHint = (fields: ArgumentFields, operand: CompareOperand, compare: CompareNode) => Node

const ownEqual: EqualHint = (fields, operand, { ignoreCase }) => {
  const { text } = operand
  const found = [...integerHexes(operand)]
  const others: Node[] = []
  const lower = text.toLowerCase()
  if (lower === 'true') found.push('0x1')
  if (lower === 'false') found.push('0x0')
  // Addresses, bytes, hashes of indexed arguments, the encoding of arrays and tuples.
  if (PLAIN_HEX.test(lower)) {
    if (lower.length <= MAX_HINT_CHARACTERS) found.push(lower)
    else others.push(notNode(existsNode(fields.hex)))
  }
  const utf8 = `0x${Buffer.from(text).toString('hex')}`
  // Bytes that are no UTF-8 are read as U+FFFD.
  if (ignoreCase || utf8.length > MAX_HINT_CHARACTERS || text.includes('\ufffd'))
    others.push(inNode(fields.type, ['string']))
  else if (text.isWellFormed()) found.push(utf8)
  return orNode([inNode(fields.hex, found), ...others])
}

const EQUAL_HINTS: Record<ArgumentProperty, EqualHint> = {
  '': ownEqual,
  num: ({ hex }, operand) => inNode(hex, integerHexes(operand)),
  hex: ({ hex }, { text, number }) => {
    const lower = text.toLowerCase()
    if (lower.length > MAX_HINT_CHARACTERS) return number === undefined ? notNode(existsNode(hex)) : ALL_NODE
    const quantity = number?.scale === 0 && number.digits >= 0n ? [`0x${number.digits.toString(16)}`] : []
    return inNode(hex, [lower, ...quantity])
  },
  type: ({ type }, { text }) =>
    text.length > MAX_HINT_CHARACTERS ? notNode(existsNode(type)) : inNode(type, [text.toLowerCase()]),
  scaled: () => ALL_NODE,
}

const PLAIN_HEX = /^0x[0-9a-f]*$/

/** All hex forms of an integer: negative ones in two's complement of each width. */
const integerHexes = ({ number }: CompareOperand): string[] => {
  if (number === undefined || number.scale > 0) return []
  const { digits } = number
  if (digits >= 0n) return digits < 2n ** 256n ? [`0x${digits.toString(16)}`] : []
  const hexes: string[] = []
  for (let bits = 8; bits <= 256; bits += 8)
    if (BigInt.asIntN(bits, digits) === digits) hexes.push(`0x${BigInt.asUintN(bits, digits).toString(16)}`)
  return hexes
}

export type ComparisonOrder = Exclude<CompareNode['how'], 'equal'>
export type IntegerBounds = { least: bigint } | { most: bigint }
/** The integers in that order to a number. */
export const integersFrom = (how: ComparisonOrder, number: Exact): IntegerBounds => {
  switch (how) {
    case 'greater':
      return { least: floorExact(number) + 1n }
    case 'greaterOrEqual':
      return { least: ceilExact(number) }
    case 'less':
      return { most: ceilExact(number) - 1n }
    case 'lessOrEqual':
      return { most: floorExact(number) }
  }
}
/** The doubles in that order to a number. The bound may have been rounded, and is included. */
export const doublesFrom = (field: FieldPath, how: ComparisonOrder, number: Exact): Node => {
  const bound = doubleOf(number)
  if (!Number.isFinite(bound)) return existsNode(field)
  return rangeNode(field, how === 'greater' || how === 'greaterOrEqual' ? { gte: bound } : { lte: bound })
}
export const doubleOf = (number: Exact): number => Number(showExact(number))
