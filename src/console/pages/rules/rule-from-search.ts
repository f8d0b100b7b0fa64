import type { JsonObject } from '../../api/json.ts'
import { askSuggestions } from '../../api/suggest.ts'
import { type Attribute, getAttributes } from './api.ts'
import { leave, type RuleConditions, readConditions } from './from-query.ts'
import { emptyRule, firstCondition, isWholeAddress, TARGETS, withConfig } from './model.ts'

/** A new rule that means what a search means, and sentences about what it cannot say. */
export const ruleFrom = async (network: string, asked: readonly string[], text: string, signal: AbortSignal) => {
  const taken = readConditions(text)
  for (const word of taken.words) await takeWord(network, word, taken, signal)
  const fitTo = async ({ kind }: RuleTarget) => {
    if (taken.conditions.length === 0) return []
    return kind && conditionsFor(taken, await getAttributes(network, kind, signal).catch(() => []))
  }
  const kinds = asked.flatMap(kind => TARGETS.find(it => it.kind === kind) ?? [])
  let fitting = await fittingTargets(kinds, fitTo)
  if (fitting.length === 0) fitting = (await fittingTargets(TARGETS, fitTo)).slice(0, 1)
  const { target, conditions } = fitting[0] ?? { target: kinds[0] ?? TARGETS[0]!, conditions: taken.conditions }
  const others = fitting.slice(1).map(it => it.target.label.toLowerCase())
  const left = others.length === 0 ? [] : [`A rule looks at one kind: ${target.label}, and not ${others.join(', ')}.`]
  const rule = withConfig(emptyRule(network), 'targetType', target.type)
  return {
    rule: withConfig(rule, 'targetMap', conditions.length > 0 ? conditions : [firstCondition(target.type)]),
    left: [...left, ...taken.left],
  }
}

type RuleTarget = (typeof TARGETS)[number]

const fittingTargets = async (
  targets: readonly RuleTarget[],
  fitTo: (target: RuleTarget) => Promise<JsonObject[] | undefined>,
) => {
  const tried = await Promise.all(targets.map(async target => ({ target, conditions: await fitTo(target) })))
  return tried.flatMap(({ target, conditions }) => (conditions ? [{ target, conditions }] : []))
}

/** The conditions with the names that rules have, if a kind has all of them. */
const conditionsFor = ({ conditions }: RuleConditions, attributes: readonly Attribute[]): JsonObject[] | undefined => {
  const named = conditions.map(condition => {
    const name = String(condition.name)
    const known = [name, name.replace(/\.(raw|keyword)$/, '')].find(it => attributes.some(own => own.name === it))
    return known === undefined ? [] : [{ ...condition, name: known }]
  })
  return named.every(it => it.length === 1) ? named.flat() : undefined
}

/** A name that the network knows, of an event, a method, a token or a contract. */
const takeWord = async (network: string, word: string, taken: RuleConditions, signal: AbortSignal) => {
  const sought = word.toLowerCase()
  const found = (await askSuggestions(network, sought, signal)).find(
    ({ text, name, kind, address }) =>
      (address !== undefined || kind === 'event' || kind === 'method') &&
      [text, name, address].some(it => it?.toLowerCase() === sought),
  )
  if (found)
    taken.conditions.push({
      ...(found.address ? { name: 'address', value: found.address } : { name: found.kind, value: found.text }),
      operator: 'Equals',
    })
  else if (isWholeAddress(word)) taken.conditions.push({ name: 'from', operator: 'Equals', value: word })
  else leave(`The text “${word}”`, taken)
  const { name } = taken.conditions.at(-1) ?? {}
  if (isWholeAddress(word))
    taken.left.push(`The search finds ${word} in any field, the rule only in “${String(name)}”.`)
}
