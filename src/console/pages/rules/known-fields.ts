import { useAsk, useSettled } from '../../api/ask.ts'
import { type JsonObject, listAt, stringifyJson, textAt, valueAt } from '../../api/json.ts'
import type { Kind } from '../../api/wire.ts'
import type { Choice } from '../../parts/combobox.tsx'
import { type Attribute, type DeclaredArgument, getArguments, getAttributes } from './api.ts'
import { plainName, type RuleLine, roleOf, toRuleLines } from './condition-rows.ts'
import { hasArguments, isWholeAddress, ruleNetwork, targetKind, targetOf } from './model.ts'
import { isInUnits, unitless } from './window-words.ts'

/** Fields of the chosen kind, and arguments of the chosen event or method. */
export interface KnownFields {
  network: string
  /** Undefined of readings, which are no documents. */
  kind: Kind | undefined
  attributes: readonly Attribute[]
  arguments: readonly DeclaredArgument[]
  /** The token whose units count, if there is one. */
  contract: string
}

export const useKnownFields = (draft: JsonObject): KnownFields => {
  const network = ruleNetwork(draft)
  const target = targetOf(draft)
  const kind = targetKind(target)
  const conditions = listAt(draft, 'config.targetMap')
  // Answers for another kind stay until the next ones come.
  const attributes = useAsk(kind && `attributes ${network} ${kind}`, signal =>
    getAttributes(network, kind!, signal).then(list => ({ kind, list })),
  )
  const plain = conditions.filter(it => listAt(it, 'operatorParameters').length === 0)
  const settled = useSettled(stringifyJson(plain), 400)
  const key = hasArguments(target) ? `arguments ${network} ${kind} ${settled}` : undefined
  const declared = useAsk(key, signal => getArguments(network, kind!, plain, signal).then(list => ({ kind, list })))
  const role = kind === 'event' ? 'contract' : 'receiver'
  const contract = toRuleLines(conditions).find(row => roleOf(row) === role)?.rest.value
  return {
    ...{ network, kind },
    contract: typeof contract === 'string' && isWholeAddress(contract) ? contract : '',
    attributes: kind === undefined ? readingFields(draft) : attributes.data?.kind === kind ? attributes.data.list : [],
    arguments: key !== undefined && declared.data?.kind === kind ? declared.data!.list : [],
  }
}

const reading = (name: string, type: string | undefined, meaning: string): Attribute => ({
  ...{ name, meaning, field: '' },
  ...(type !== undefined && { type }),
})

/** What a reading of state has to compare. */
const readingFields = (draft: JsonObject): Attribute[] => {
  const isOfCall = valueAt(draft, 'config.read.balances') === undefined
  const values = isOfCall ? resultNames(textAt(draft, 'config.read.call') ?? '') : ['value.coin', 'value']
  return [
    ...values.map(name => reading(name, undefined, isOfCall ? 'What the call returns' : MEANINGS_OF_BALANCES[name]!)),
    reading('changed', 'boolean', 'Whether it differs from the reading before'),
    ...values.map(name => reading(`previous.${name}`, undefined, 'The same at the reading before')),
    reading('error', 'text', 'Why there is no answer, such as a revert'),
    reading('address', 'address', 'Whose it is'),
    reading('blockNumber.num', undefined, 'Height of the block'),
    reading('timestamp', undefined, 'Time of the block'),
  ]
}

const MEANINGS_OF_BALANCES: Record<string, string> = {
  'value.coin': 'The balance, in coins',
  value: 'The balance, in the smallest unit',
}

/** `result.price` for each value that a declaration returns, by its place where it has no name. */
const resultNames = (declaration: string): string[] => {
  const [, inner] = /returns\s*\((.*)\)\s*$/.exec(declaration) ?? []
  if (inner === undefined) return []
  // Components of a tuple are no results of their own.
  const flat = inner.replace(/\((?:[^()]|\([^()]*\))*\)/g, '')
  return flat.split(',').map((output, i) => {
    const words = output.trim().split(/\s+/)
    return `result.${words.length > 1 ? words.at(-1) : i}`
  })
}

/** An argument by its name alone, unless a field has the same name. */
export const fieldText = (names: readonly string[], known: KnownFields): string => {
  const plain = plainName(names)
  const isOwn = names.length > 1 && known.arguments.some(({ name }) => name === names[1])
  return isOwn && !known.attributes.some(({ name }) => name === plain) ? plain : names.join('.')
}

export const namesOfTyped = (typed: string, known: KnownFields): string[] => {
  if (!typed.startsWith('args.')) return [typed]
  const inner = typed.slice('args.'.length)
  return ['args', ...(known.arguments.some(({ name }) => name === inner) ? [inner] : inner.split('.'))]
}

export const fieldChoices = ({ attributes, arguments: all }: KnownFields): Choice[] => {
  const taken = new Set(attributes.map(({ name }) => name))
  return [
    ...all.map(({ name, type }) => ({ value: taken.has(name) ? `args.${name}` : name, kind: `argument, ${type}` })),
    ...attributes.filter(({ name }) => name !== 'args').map(({ name, meaning }) => ({ value: name, kind: meaning })),
  ]
}

/** The argument of that name, unless it is a field's. */
const argumentNamed = (name: string, known: KnownFields): DeclaredArgument | undefined =>
  known.attributes.some(it => it.name === name) ? undefined : known.arguments.find(it => it.name === name)

/** Integers of tokens are compared in units, as people write them. */
export const asArgument = (row: RuleLine, known: KnownFields): RuleLine => {
  const argument = row.names.length === 1 ? argumentNamed(row.names[0]!, known) : undefined
  if (!argument) return row
  const units = argument.isScaled ? { useScaledValue: true } : {}
  return { ...row, names: ['args', argument.name], rest: { ...row.rest, ...units } }
}

/** The same of a dotted name, as windows have it. */
export const asDottedName = (name: string, known: KnownFields, inUnits: boolean): string => {
  const argument = argumentNamed(name, known)
  if (!argument) return name
  return `args.${argument.name}${inUnits && argument.isScaled ? '.scaled' : ''}`
}

/** A dotted name as people know it. */
export const dottedText = (name: string, known: KnownFields): string =>
  fieldText(namesOfTyped(unitless(name), known), known)

/** Whether an argument has values in units of a token. */
export const mayBeInUnits = (name: string, known: KnownFields): boolean =>
  isInUnits(name) || known.arguments.some(it => it.isScaled && name === `args.${it.name}`)
