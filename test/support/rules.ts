import fc from 'fast-check'
import type { Document } from '../../src/documents/document.ts'
import type { Kind } from '../../src/mapping/index.ts'
import { compileCompare, facesAt, operandOf } from '../../src/query/compare.ts'
import {
  addPacked,
  canonicalValue,
  createValueList,
  packValue,
  removePacked,
  type ValueList,
} from '../../src/query/value-list.ts'
import { attributeSteps } from '../../src/rules/attributes.ts'
import { OPERATOR_MEANINGS } from '../../src/rules/lower.ts'
import {
  isListValue,
  isLogic,
  LOGIC_OPERATORS,
  type NamedCondition,
  type RuleCondition,
  type RuleOperator,
  type TargetType,
} from '../../src/rules/rule.ts'

export const TARGETS = {
  block: 'Block',
  tx: 'Transaction',
  log: 'Log',
  event: 'Event',
  trace: 'Trace',
  call: 'Call',
  contract: 'Contract',
  token: 'Token',
} as const satisfies Record<Kind, TargetType>

/** A condition on an attribute by its names from the outside in: all but the last inspect. */
export const conditionAt = (
  [name = '', ...inner]: readonly string[],
  operator: RuleOperator,
  value: string | string[],
  useScaledValue: boolean,
  level = 1,
): NamedCondition => ({
  name,
  ...(inner.length > 0
    ? { operator: 'Inspect', operatorParameters: [conditionAt(inner, operator, value, useScaledValue, level + 1)] }
    : { operator, value }),
  ...(level === 2 && useScaledValue && { useScaledValue }),
})

/** Watch lists that conditions name, and their values. */
export const createTestLists = () => {
  const lists = new Map<string, { list: ValueList; values: Set<string> }>()
  const openList = (name: string) => {
    if (!lists.has(name)) lists.set(name, { list: createValueList(name), values: new Set() })
    return lists.get(name)!
  }
  const put = (name: string, value: string, added: boolean) => {
    const it = openList(name)
    const packed = packValue(canonicalValue(value))
    if (added) {
      addPacked(it.list, packed)
      it.values.add(canonicalValue(value))
    } else {
      removePacked(it.list, packed)
      it.values.delete(canonicalValue(value))
    }
  }
  return {
    find: (name: string): ValueList => openList(name).list,
    valuesOf: (name: string): string[] => [...openList(name).values],
    put,
    /** The conditions, with a list in the place of some of their values. */
    named(conditions: readonly RuleCondition[], chosen: readonly boolean[]): RuleCondition[] {
      let next = 0
      const name = (condition: RuleCondition): RuleCondition => {
        const { value, operatorParameters } = condition
        if (operatorParameters)
          return { ...condition, operatorParameters: operatorParameters.map(name) } as RuleCondition
        if (!Array.isArray(value) || !value.every(isListable) || !chosen[next++ % chosen.length]) return condition
        const list = `list ${JSON.stringify(value)}`
        for (const one of value) put(list, one, true)
        return { ...condition, value: { list } } as RuleCondition
      }
      return conditions.map(name)
    },
  }
}

const isListable = (value: string) => value !== '' && value.isWellFormed()

type ValuesOf = (list: string) => string[]

/** Asks a document whether conditions hold, one after the other; `decided` is it if decimals were known. */
type Verdict = (document: Document, decided?: Document | undefined) => boolean | undefined

/** A plain evaluation of conditions as they are written: undefined if unknown decimals decide it. */
export const naiveVerdict = (kind: Kind, targetMap: readonly RuleCondition[], valuesOf: ValuesOf = () => []): Verdict =>
  allOf(targetMap.map(condition => verdictOf({ kind, valuesOf }, condition, [], false)))

const verdictOf = (
  to: { kind: Kind; valuesOf: ValuesOf },
  condition: RuleCondition,
  around: string[],
  scaled: boolean,
): Verdict => {
  const { kind, valuesOf } = to
  if (isLogic(condition)) {
    const none = allOf(condition.operatorParameters.map(it => opposite(verdictOf(to, it, around, scaled))))
    return condition.operator === 'Not' ? none : opposite(none)
  }
  const { name, operator, value = [], operatorParameters } = condition
  const names = [...around, name]
  const isScaled = scaled || condition.useScaledValue === true
  if (operator === 'Inspect') return allOf((operatorParameters ?? []).map(it => verdictOf(to, it, names, isScaled)))
  const steps = attributeSteps(kind, names)
  const operands = (isListValue(value) ? valuesOf(value.list) : [value].flat()).map(operandOf)
  const holds = compileCompare({
    op: 'compare',
    kind,
    steps,
    ...OPERATOR_MEANINGS[operator],
    operands,
    scaled: isScaled,
  })
  const read = facesAt(steps, isScaled, kind)
  return (document, decided) =>
    holds(document) || (decided && read(document).length === 0 && read(decided).length > 0 ? undefined : false)
}

const allOf =
  (verdicts: readonly Verdict[]): Verdict =>
  (...documents) => {
    const all = verdicts.map(verdict => verdict(...documents))
    return all.includes(false) ? false : all.includes(undefined) ? undefined : true
  }

const opposite =
  (verdict: Verdict): Verdict =>
  (...documents) => {
    const it = verdict(...documents)
    return it === undefined ? undefined : !it
  }

/** The conditions, some of them below an `Or` or a `Not`, also inside of one `Inspect`. */
export const withLogic = (conditions: readonly RuleCondition[]): fc.Arbitrary<RuleCondition[]> =>
  fc.array(fc.nat(5), { minLength: conditions.length, maxLength: conditions.length }).chain(choices => {
    const of = (wanted: readonly number[]) => conditions.filter((_, i) => wanted.includes(choices[i]!))
    const rest = of([0, 1])
    const lower = of([2, 3, 4, 5])
    if (lower.length === 0) return fc.constant([...rest])
    const inArgs = lower.filter((it): it is NamedCondition => it.name === 'args')
    const isOne = inArgs.length === lower.length
    const inner = isOne ? inArgs.flatMap(({ operatorParameters }) => operatorParameters ?? []) : lower
    return treeOf(inner, 3).map(tree => [
      ...rest,
      isOne ? { name: 'args', operator: 'Inspect', operatorParameters: [tree] } : tree,
    ])
  })

const treeOf = (conditions: readonly RuleCondition[], depth: number): fc.Arbitrary<RuleCondition> =>
  fc
    .tuple(fc.constantFrom(...LOGIC_OPERATORS), fc.nat(conditions.length - 1), fc.boolean())
    .chain(([operator, at, deep]) =>
      deep && depth > 0
        ? treeOf(conditions.slice(at), depth - 1).map(inner => ({
            operator,
            operatorParameters: [...conditions.slice(0, at), inner],
          }))
        : fc.constant({ operator, operatorParameters: [...conditions] }),
    )

type Json = Record<string, unknown>

/** The body of a rule that is taken as it stands, but for `change`. */
export const ruleBody = (change: Json = {}): Json => ({
  name: 'Large transfers',
  maxConfirmationCount: 3,
  technology: 'ethereum',
  blockchain: 'ethereum',
  network: 'mainnet',
  config: ruleConfig(),
  ...change,
})

export const ruleConfig = (change: Json = {}): Json => ({
  targetType: 'Event',
  targetMap: [{ name: 'event', operator: 'Equals', value: 'Transfer' }],
  alerts: [{ type: 'Webhook (POST)', parameters: { url: 'https://example.org/hook' } }],
  ...change,
})

/** A webhook that is told these fields of the document, or all of it. */
export const webhookTo = (url: string, ...fields: readonly string[]) => ({
  type: 'Webhook (POST)',
  parameters: { url },
  ...(fields.length > 0 && { payload: fields.map(fieldName => ({ fieldType: 'Field', fieldName })) }),
})

/** The body of a rule on a network, with one condition, which fires without confirmations. */
export const ruleOn = (
  on: string,
  [targetType, name, operator, value]: readonly [target: string, name: string, operator: string, value: string],
  alerts: readonly object[],
  change: Json = {},
) => {
  const [technology, blockchain, network] = on.split('/')
  const config = { targetType, targetMap: [{ name, operator, value }] as object[], alerts }
  return { name: 'A rule', maxConfirmationCount: 0, technology, blockchain, network, config, ...change }
}
