import { isChecksummed } from '../lib/keccak.ts'
import {
  type Field,
  type FieldKind,
  type FieldPath,
  isListField,
  type Kind,
  lookup,
  MAPPING,
  nestedPaths,
} from '../mapping/index.ts'
import { ALL_NODE, type CompareNode, type CompareOperand, type Exact, NONE_NODE, type Node } from '../query/ast.ts'
import { compileTest, operandOf } from '../query/compare.ts'
import { ceilExact, exactOf, floorExact, parseExact, shiftExact, showExact } from '../query/exact.ts'
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
import { analyzeText, LONGEST_TOKEN } from '../query/text/analysis.ts'
import { valuesIn } from '../query/value-list.ts'

/** A query that holds wherever the condition does, and if it is `exact`, nowhere else. */
export interface Hint {
  readonly node: Node
  readonly exact: boolean
}

export const hintOf = (kind: Kind, compare: CompareNode): Hint => {
  const { list, ...rest } = compare
  if (list === undefined) return hintOfOperands(kind, compare)
  if (list.size <= MAX_LOOKED_UP) return hintOfOperands(kind, { ...rest, operands: valuesIn(list).map(operandOf) })
  // Greater than anything: of an argument, only its name is looked up.
  const any = hintOfOperands(kind, { ...rest, how: 'greater', operands: [operandOf('')] })
  return { node: any.node.op === 'nested' ? any.node : ALL_NODE, exact: false }
}

/** Values of a watch list that a search looks up. It tests what else matches against larger lists. */
const MAX_LOOKED_UP = 65_536

const hintOfOperands = (kind: Kind, compare: CompareNode): Hint => {
  const [name = ''] = compare.steps
  if (nestedPaths(kind).includes(name)) return { node: argumentHint(kind, compare), exact: false }
  const at = findAttributeField(kind, compare.steps)
  if (at === undefined || compare.scaled) return NEVER_HINT
  const { node, exact } = HINTS[at.fieldKind](at, compare)
  return { node, exact: exact && !at.oneElement }
}

const NEVER_HINT: Hint = { node: NONE_NODE, exact: true }
const UNKNOWN_HINT: Hint = { node: ALL_NODE, exact: false }
const exactHint = (node: Node): Hint => ({ node, exact: true })

export interface AttributeField {
  kind: Kind
  /** In the mapping, without places in lists and encoding. */
  path: string
  field: Field
  fieldKind: FieldKind
  encoding: string
  /** Whether it names one place of a list, which is not indexed. */
  oneElement: boolean
}

/** Undefined if the mapping has no such field. */
export const findAttributeField = (kind: Kind, steps: readonly string[]): AttributeField | undefined => {
  const [name = '', ...rest] = steps
  const { fields } = MAPPING[kind]
  const field = Object.hasOwn(fields, name) ? fields[name]! : undefined
  if (field === undefined) return undefined
  const names = rest.filter(step => !/^\d+$/.test(step))
  const oneElement = names.length < rest.length
  if (!isListField(field))
    return { kind, path: name, field, fieldKind: field.kind, encoding: names[0] ?? '', oneElement }
  const [member = '', encoding = ''] = names
  if (!Object.hasOwn(field.members, member)) return undefined
  const inner = field.members[member]!
  return { kind, path: `${name}.${member}`, field: inner, fieldKind: inner.kind, encoding, oneElement }
}

const fieldPath = ({ kind, path }: AttributeField, encoding = ''): FieldPath =>
  lookup(kind, encoding === '' ? path : `${path}.${encoding}`)!

const equalHint = ({ how, operands }: CompareNode, each: (operand: CompareOperand) => Hint): Hint => {
  if (how !== 'equal') return UNKNOWN_HINT
  const hints = operands.map(each)
  return { node: orNode(hints.map(({ node }) => node)), exact: hints.every(({ exact }) => exact) }
}

type Hinter = (at: AttributeField, compare: CompareNode) => Hint

/** Longer texts are not indexed. */
const LONGEST = 256

const addressHint: Hinter = (at, compare) =>
  equalHint(compare, operand => {
    const text = operand.text.toLowerCase()
    if (compare.ignoreCase || at.encoding === '')
      return /^0x[0-9a-f]{40}$/.test(text) ? exactHint(inNode(fieldPath(at), [text])) : NEVER_HINT
    return isChecksummed(operand.text) ? exactHint(inNode(fieldPath(at, 'raw'), [operand.text])) : NEVER_HINT
  })

const hexHint: Hinter = (at, compare) =>
  equalHint(compare, operand => {
    const text = operand.text.toLowerCase()
    if (!/^0x[0-9a-f]*$/.test(text)) return NEVER_HINT
    return text.length <= LONGEST ? exactHint(inNode(fieldPath(at), [text])) : UNKNOWN_HINT
  })

const exactText = (field: FieldPath, { text }: CompareOperand): Hint => {
  if (text.length > LONGEST) return UNKNOWN_HINT
  // Texts are stored as UTF-8, which has no lone surrogates.
  return text.isWellFormed() ? exactHint(inNode(field, [text])) : NEVER_HINT
}

const keywordHint: Hinter = (at, compare) =>
  compare.ignoreCase ? UNKNOWN_HINT : equalHint(compare, operand => exactText(fieldPath(at), operand))

const textHint: Hinter = (at, compare) =>
  equalHint(compare, operand => {
    if (!compare.ignoreCase) return exactText(fieldPath(at, 'raw'), operand)
    // Equal texts have equal words, but other texts may have them, too.
    if (!/^[a-zA-Z0-9]+$/.test(operand.text) || operand.text.length > LONGEST_TOKEN) return UNKNOWN_HINT
    return { node: andNode(analyzeText(operand.text).map(word => inNode(fieldPath(at), [word]))), exact: false }
  })

/** A value has many spellings with leading zeros. */
const hexNumberHint: Hinter = () => UNKNOWN_HINT

/** Unsigned integers in several encodings. */
const unsignedHint =
  (within: (at: AttributeField, bounds: IntegerBounds) => Hint): Hinter =>
  (at, compare) => {
    const decimals = at.encoding === 'coin' ? 18 : 0
    const { how, operands } = compare
    if (how === 'equal')
      return equalHint(compare, ({ number }) => {
        if (number === undefined) return NEVER_HINT
        const { digits, scale } = shiftExact(number, decimals)
        if (scale > 0 || digits < 0n) return NEVER_HINT
        if (digits <= GREATEST_LONG && lookup(at.kind, `${at.path}.num`))
          return exactHint(inNode(fieldPath(at, 'num'), [digits]))
        return digits < 2n ** 1000n
          ? exactHint(inNode(fieldPath(at, 'raw'), [`0x${digits.toString(16)}`]))
          : UNKNOWN_HINT
      })
    const number = operands[0]?.number
    if (number === undefined) return UNKNOWN_HINT
    const bounds = integersFrom(how, shiftExact(number, decimals))
    if ('most' in bounds) return bounds.most < 0n ? NEVER_HINT : within(at, bounds)
    return bounds.least <= 0n ? exactHint(existsNode(fieldPath(at, 'raw'))) : within(at, bounds)
  }

/** `num` is null if an integer does not fit 64 bits. */
const quantityHint = unsignedHint((at, bounds) => {
  const num = fieldPath(at, 'num')
  const raw = existsNode(fieldPath(at, 'raw'))
  const fits = ['position', 'transaction'].includes(num.declaration.origin)
  if ('most' in bounds)
    return bounds.most <= GREATEST_LONG ? exactHint(rangeNode(num, { lte: bounds.most })) : { node: raw, exact: false }
  const beyond = fits ? NONE_NODE : andNode([raw, notNode(existsNode(num))])
  return bounds.least > GREATEST_LONG
    ? { node: beyond, exact: fits }
    : exactHint(orNode([rangeNode(num, { gte: bounds.least }), beyond]))
})

/** Padded digits order as integers do, up to 256 bits. */
const paddedHint = unsignedHint((at, bounds) => {
  const field = fieldPath(at, 'padded')
  const bound = 'most' in bounds ? bounds.most : bounds.least
  if (bound >= 2n ** 256n) return 'most' in bounds ? exactHint(existsNode(fieldPath(at, 'raw'))) : NEVER_HINT
  const digits = `0x${bound.toString(16).padStart(64, '0')}`
  return exactHint(rangeNode(field, 'most' in bounds ? { lte: digits } : { gte: digits }))
})

const booleanHint: Hinter = (at, compare) => {
  const test = compileTest(compare)
  const values = [false, true].filter(value => test({ text: String(value), number: exactOf(value ? 1n : 0n) }))
  return exactHint(inNode(fieldPath(at), values))
}

/** Seconds whose milliseconds are exact. */
const MAX_SECONDS = 2n ** 43n

const secondsHint: Hinter = (at, compare) => {
  const field = fieldPath(at)
  const { how, operands } = compare
  if (how === 'equal')
    return equalHint(compare, ({ number }) => {
      if (number === undefined || number.scale > 0 || number.digits < 0n) return NEVER_HINT
      return number.digits <= MAX_SECONDS ? exactHint(inNode(field, [Number(number.digits) * 1000])) : UNKNOWN_HINT
    })
  const number = operands[0]?.number
  if (number === undefined) return UNKNOWN_HINT
  const bounds = integersFrom(how, number)
  const bound = 'most' in bounds ? bounds.most : bounds.least
  if (bound > MAX_SECONDS || bound < -MAX_SECONDS) return UNKNOWN_HINT
  const instant = Number(bound) * 1000
  return exactHint(rangeNode(field, 'most' in bounds ? { lte: instant } : { gte: instant }))
}

/** As text, times from the year 10000 on precede all others: they begin with a plus sign. */
const YEAR_10000 = 253_402_300_800_000

const datetimeHint: Hinter = (at, compare) => {
  const field = fieldPath(at)
  const { how, operands } = compare
  if (how === 'equal')
    return equalHint(compare, operand => {
      if (operand.number !== undefined) return secondsHint(at, { ...compare, operands: [operand] })
      const instant = instantOf(compare.ignoreCase ? operand.text.toUpperCase() : operand.text)
      if (instant === undefined) return UNKNOWN_HINT
      return operand.text.length === SHOWN_TIME.length ? exactHint(inNode(field, [instant])) : NEVER_HINT
    })
  const [operand] = operands
  if (operand === undefined || operand.number !== undefined) return secondsHint(at, compare)
  const instant = instantOf(operand.text)
  if (instant === undefined) return UNKNOWN_HINT
  const isWhole = operand.text.length === SHOWN_TIME.length
  if (how === 'greater' || how === 'greaterOrEqual') {
    const bound = isWhole && how === 'greater' ? { gt: instant } : { gte: instant }
    return exactHint(rangeNode(field, { ...bound, lt: YEAR_10000 }))
  }
  const bound = isWhole && how === 'lessOrEqual' ? { lte: instant } : { lt: instant }
  return exactHint(orNode([rangeNode(field, bound), rangeNode(field, { gte: YEAR_10000 })]))
}

const SHOWN_TIME = '0000-01-01T00:00:00'
const BEGINNING = /^\d{4}(?:-\d\d(?:-\d\d(?:T\d\d(?::\d\d(?::\d\d)?)?)?)?)?$/

/** The first moment whose text begins so. */
const instantOf = (text: string): number | undefined => {
  if (!BEGINNING.test(text)) return undefined
  const whole = text + SHOWN_TIME.slice(text.length)
  const instant = Date.parse(`${whole}Z`)
  // A day that does not exist is read as another one.
  return Number.isNaN(instant) || new Date(instant).toISOString().slice(0, SHOWN_TIME.length) !== whole
    ? undefined
    : instant
}

const doubleHint: Hinter = (at, compare) => {
  const field = fieldPath(at)
  const { how, operands } = compare
  if (how === 'equal')
    return equalHint(compare, ({ number }) => {
      if (number === undefined) return NEVER_HINT
      const nearest = doubleOf(number)
      if (!Number.isFinite(nearest)) return UNKNOWN_HINT
      const shown = parseExact(String(nearest))
      return shown?.digits === number.digits && shown.scale === number.scale
        ? exactHint(inNode(field, [nearest]))
        : NEVER_HINT
    })
  const number = operands[0]?.number
  return number === undefined ? UNKNOWN_HINT : { node: doublesFrom(field, how, number), exact: false }
}

const HINTS = {
  address: addressHint,
  hex: hexHint,
  hexList: hexHint,
  hexNumber: hexNumberHint,
  quantity: quantityHint,
  wide: paddedHint,
  amount: paddedHint,
  boolean: booleanHint,
  seconds: secondsHint,
  datetime: datetimeHint,
  keyword: keywordHint,
  text: textHint,
  long: () => UNKNOWN_HINT,
  integers: () => UNKNOWN_HINT,
  double: doubleHint,
  integer256: () => UNKNOWN_HINT,
  decimal: () => UNKNOWN_HINT,
  flattened: () => UNKNOWN_HINT,
} as const satisfies Record<FieldKind, Hinter>

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
