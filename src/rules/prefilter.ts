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
import { ALL_NODE, type CompareNode, type CompareOperand, NONE_NODE, type Node } from '../query/ast.ts'
import { compileTest } from '../query/compare.ts'
import { exactOf, parseExact, shiftExact } from '../query/exact.ts'
import { andNode, existsNode, GREATEST_LONG, inNode, notNode, orNode, rangeNode } from '../query/simplify.ts'
import { analyzeText, LONGEST_TOKEN } from '../query/text/analysis.ts'
import { argumentHint, doubleOf, doublesFrom, type IntegerBounds, integersFrom } from './argument-prefilter.ts'

/** A query that holds wherever the condition does, and if it is `exact`, nowhere else. */
export interface Hint {
  readonly node: Node
  readonly exact: boolean
}

export const hintOf = (kind: Kind, compare: CompareNode): Hint => {
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
