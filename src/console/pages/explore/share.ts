import { rootUrl } from '../../shell/place.ts'
import { type Asked, plainBody, queryOf } from './body.ts'
import { type Condition, conditionsOf } from './conditions.ts'
import type { Search } from './state.ts'
import { layOut } from './tree.ts'

const urlOf = ({ network, kinds }: Search): string =>
  new URL(`${rootUrl}${network}/es/${kinds.join()}/search/`, location.href).href

/** For a shell; the token stays out of it. */
export const curlOf = (search: Search, asked: Asked): string =>
  [
    `curl -s ${quoted(urlOf(search))} \\`,
    `  -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\`,
    `  -d ${quoted(layOut(plainBody(asked)))}`,
  ].join('\n')

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

export const jsonOf = (asked: Asked): string => layOut(plainBody(asked))

const TARGETS: Readonly<Record<string, string>> = {
  block: 'Block',
  tx: 'Transaction',
  event: 'Event',
  log: 'Log',
  call: 'Call',
  trace: 'Trace',
  contract: 'Contract',
  token: 'Token',
}

interface RuleCondition {
  name: string
  operator: string
  value?: string | string[]
  useScaledValue?: boolean
  operatorParameters?: RuleCondition[]
}

/** What a rule can take of a search: `left` are the clauses that no condition of a rule can say. */
export interface Rulable {
  network: string
  targetType: string
  targetMap: RuleCondition[]
  left: string[]
}

/** Rules watch one kind; several make the first of them. */
export const toRule = ({ network, kinds }: Search, asked: Asked): Rulable => {
  const query = asked.query ?? ''
  const conditions = query === '' ? [] : conditionsOf(query)
  const said = conditions.map(condition => [condition, ruleCondition(condition)] as const)
  const targetType = TARGETS[kinds.find(kind => kind !== 'block') ?? 'block']!
  return {
    ...{ network, targetType },
    targetMap: said.flatMap(([, rule]) => (rule ? [rule] : [])),
    left: said.flatMap(([condition, rule]) =>
      rule
        ? []
        : [
            condition.operator === 'json'
              ? condition.value
              : `${condition.not ? 'not ' : ''}${condition.field} ${condition.operator} ${condition.value}`.trim(),
          ],
    ),
  }
}

/** `from` is the search as JSON: `network`, `kinds`, the clause `query`, and what a rule can take of it. */
export const ruleHref = (search: Search, asked: Asked): string => {
  const { targetType, targetMap, left } = toRule(search, asked)
  const { network, kinds } = search
  const rest = JSON.stringify({ network, kinds, targetType, targetMap, left }).slice(0, -1)
  return `/rules/new?from=${encodeURIComponent(`${rest},"query":${queryOf({ query: asked.query })}}`)}`
}

const OPERATORS: Partial<Record<Condition['operator'], string>> = {
  is: 'Equals (ignore case)',
  any: 'Equals any (ignore case)',
  gte: 'Greater or Equal',
  gt: 'Greater',
  lte: 'Less or Equal',
  lt: 'Less',
}

const ruleCondition = ({ field, argument, operator, not, value }: Condition): RuleCondition | undefined => {
  const isAddressWord = operator === 'match' && /^0x[0-9a-f]{40}$/i.test(value)
  const named = isAddressWord ? OPERATORS.is : OPERATORS[operator]
  if (named === undefined || not) return undefined
  const values = operator === 'any' ? value.split(',').map(it => it.trim()) : value
  if (argument === undefined) return { name: field.replace(/\.(raw|dec|num)$/, ''), operator: named, value: values }
  const scaled = field.endsWith('.scaled') ? { useScaledValue: true } : {}
  const inner = { name: argument, operator: named, value: values, ...scaled }
  return { name: 'args', operator: 'Inspect', operatorParameters: [inner] }
}
