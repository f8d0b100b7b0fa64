import { useContext } from 'preact/hooks'
import { type Json, type JsonObject, listAt, ownEntry, textAt, valueAt } from '../../api/json.ts'
import { coinOf, countText } from '../../parts/format.ts'
import { useKnown } from '../../parts/names.ts'
import { Hash, NetworkContext, Text } from '../../parts/text.tsx'
import {
  type ConditionRole,
  hasLogic,
  listNamed,
  plainName,
  type RuleLine,
  roleOf,
  toRuleLines,
} from './condition-rows.ts'
import { isWholeAddress, OPERATOR_PHRASES, receiverOf, ruleNetwork, TARGETS, targetOf } from './model.ts'
import { fieldWords, isInUnits, isNone, measureWords, readableNumber, spanWords, stepsWords } from './window-words.ts'

const SHOWN_VALUES = 3

/** The rule as people say it. */
export const RuleSentence = ({ rule }: { rule: JsonObject }) => {
  const network = ruleNetwork(rule)
  const rows = toRuleLines(listAt(rule, 'config.targetMap')).filter(it => operandsOf(it).length > 0)
  const of = (role: ConditionRole) => rows.filter(it => sayableRole(it) === role)
  const target = TARGETS.find(({ type }) => type === targetOf(rule))
  const [contracts, names] = [of('contract'), of('what')]
  const noun = target?.type === 'Event' && names.length > 0 ? '' : (target?.noun ?? 'document')
  const others = rows.filter(it => sayableRole(it) === undefined)
  const receivers = listAt(rule, 'config.alerts').map(receiverOf).filter(Boolean)
  return (
    <NetworkContext.Provider value={network}>
      <p class="sentence card">
        Notify{' '}
        {receivers.length === 0 ? (
          <span class="dim">nobody yet</span>
        ) : (
          <Text value={receivers.join(' and ')} most={120} brief />
        )}{' '}
        of <AlertLead when={valueAt(rule, 'config.when')} token={contracts.flatMap(operandsOf)} />
        <SaidValues of={contracts} />
        <SaidValues of={names} />
        {noun && ` ${noun}`}
        {target?.type === 'State' && <ReadOf read={valueAt(rule, 'config.read')} />}
        {of('amount').map((row, i) => (
          <AmountOf key={i} row={row} token={contracts.flatMap(operandsOf)} next={i > 0} />
        ))}
        {(['sender', 'receiver'] as const).map(
          role =>
            of(role).length > 0 && (
              <span key={role}>
                {role === 'sender' ? ' from' : ' to'}
                <SaidValues of={of(role)} />
              </span>
            ),
        )}
        {others.map((row, i) => (
          <span key={i}>
            {i === 0 ? ' whose ' : ' and whose '}
            <Text value={plainName(row.names)} most={60} brief /> {phraseOf(row)}
            <SaidValues of={[row]} />
            {row.rest.useScaledValue === true && ' in units of the token'}
          </span>
        ))}
        {listAt(rule, 'config.targetMap').filter(it => hasLogic([it])).length > 0 && ', with further conditions,'}
        {windowSpan(valueAt(rule, 'config.when'))} on{' '}
        {network === '*/*/*' ? 'all networks' : <Text value={network.split('/').slice(1).join(' ')} brief />},{' '}
        {firesWhen(rule.maxConfirmationCount ?? 0)}
        {notifyWords(valueAt(rule, 'config.notify'))}.
      </p>
    </NetworkContext.Provider>
  )
}

/** What of the matches is an alert, before their name. */
const AlertLead = ({ when, token }: { when: Json | undefined; token: readonly string[] }) => {
  const known = useKnown(token.length === 1 ? token[0]! : '')
  const conditions = listAt(when, 'conditions')
  if (conditions.length === 0) return <>{when === undefined ? 'each' : 'the newest'}</>
  const [first] = conditions
  if (conditions.length === 1 && textAt(first, 'aggregate') === 'Count' && isNone(first)) return <strong>no</strong>
  const isAlone = conditions.length === 1
  return (
    <>
      {conditions.map((it, i) => (
        <span key={i}>
          {i > 0 && ' and '}
          <strong>
            <Text value={conditionWords(it, isAlone, known?.symbol ?? 'units of the token')} most={160} brief />
          </strong>
        </span>
      ))}
      {!(isAlone && textAt(first, 'aggregate') === 'Count') && ' in'}
    </>
  )
}

/** `more than 10`, `more than 1,000 DUSD`, `an average value of at most 5`. */
const conditionWords = (condition: Json, isAlone: boolean, unit: string): string => {
  const [aggregate = '', name = '', operator = '', value = ''] = ['aggregate', 'name', 'operator', 'value'].map(it =>
    textAt(condition, it),
  )
  if (aggregate === 'First') return `a new ${fieldWords(name)}`
  const phrase = operator === 'Equals' ? 'exactly' : operatorPhrase(operator).replace(/^is /, '')
  const amount = `${phrase} ${readableNumber(value) || '…'}${isInUnits(name) ? ` ${unit}` : ''}`
  if (aggregate === 'Count') return isAlone ? amount : `${amount} matches`
  if (aggregate === 'Distinct') return `${amount} different ${fieldWords(name)}`
  if (aggregate === 'Sum' && isInUnits(name)) return amount
  return `${/^[aeiou]/i.test(aggregate) ? 'an' : 'a'} ${measureWords(aggregate, name)} of ${amount}`
}

/** ` to one receiver within 10 minutes,`. */
const windowSpan = (when: Json | undefined): string => {
  if (when === undefined) return ''
  const span = spanWords(valueAt(when, 'within'))
  const conditions = listAt(when, 'conditions')
  const isSilent = conditions.length === 1 && isNone(conditions[0])
  const each = listAt(when, 'by').map(
    name => BY_WORDS[roleOf({ names: String(name).split('.') }) ?? ''] ?? `for each ${fieldWords(String(name))}`,
  )
  const held = spanWords(valueAt(when, 'hold'))
  const words = [...each, stepsWords(when), span && `${isSilent ? 'for' : 'within'} ${span}`].filter(Boolean)
  return `${words.length > 0 ? ` ${words.join(' ')},` : ''}${held && ` held for ${held},`}`
}

const BY_WORDS: Partial<Record<string, string>> = {
  ...{ sender: 'from one sender', receiver: 'to one receiver', contract: 'of one contract' },
}

const notifyWords = (notify: Json | undefined): string => {
  const [quiet, group] = [valueAt(notify, 'quiet'), valueAt(notify, 'group.wait')]
  const same = listAt(quiet, 'by').map(name => fieldWords(String(name)))
  return [
    valueAt(notify, 'resolved') === true && ', and again when it is over',
    quiet !== undefined &&
      `, then quiet for ${spanWords(quiet)}${same.length > 0 ? ` for the same ${same.join(' and ')}` : ''}`,
    group !== undefined && `, alerts of ${spanWords(group)} together`,
  ]
    .filter(Boolean)
    .join('')
}

/** What a rule of state looks at. */
const ReadOf = ({ read }: { read: Json | undefined }) => {
  const balances = listAt(read, 'balances').map(String)
  const [address, call] = [textAt(read, 'address') ?? '', textAt(read, 'call') ?? '']
  const name = /^\s*(?:function\s+)?(\w+)/.exec(call)?.[1]
  const blocks = valueAt(read, 'every.blocks')
  return (
    <>
      {' of '}
      {name !== undefined && (
        <>
          <Text value={name} most={60} brief /> of{' '}
        </>
      )}
      {balances.length === 0 && address === '' && <span class="dim">no address yet</span>}
      <SaidList values={balances.length > 0 ? balances : [address].filter(Boolean)} />
      {typeof blocks === 'number' && ` every ${countText(blocks, 'block').replace(/^1 /, '')}`}
    </>
  )
}

const firesWhen = (confirmations: Json): string => {
  if (!confirmations) return 'at once'
  if (typeof confirmations === 'number') return `${countText(confirmations, 'block')} later`
  return `once its block is ${String(confirmations)}`
}

const operandsOf = ({ rest, rest: { value } }: RuleLine): string[] =>
  (listNamed(rest) !== undefined ? [`the list ${listNamed(rest)}`] : Array.isArray(value) ? value : [value])
    .filter(it => it !== undefined && it !== null && it !== '')
    .map(String)

const phraseOf = ({ rest: { operator } }: RuleLine): string => operatorPhrase(String(operator))

const operatorPhrase = (operator: string): string => ownEntry(OPERATOR_PHRASES, operator) ?? operator

/** Roles have words of their own where the operator fits. */
const sayableRole = (row: RuleLine): ConditionRole | undefined => {
  const role = roleOf(row)
  return role === 'amount' || String(row.rest.operator).startsWith('Equals') ? role : undefined
}

const SaidValues = ({ of }: { of: readonly RuleLine[] }) => {
  const values = of.flatMap(operandsOf)
  return values.length === 0 ? null : (
    <>
      {' '}
      <SaidList values={values} />
    </>
  )
}

const SaidList = ({ values }: { values: readonly string[] }) => {
  const shown = values.slice(0, SHOWN_VALUES)
  return (
    <strong>
      {shown.map((value, i) => (
        <span key={i}>
          {i > 0 && (i === values.length - 1 ? ' or ' : ', ')}
          {isWholeAddress(value) ? (
            <SaidAddress address={value} />
          ) : (
            <Text value={/^\d{4,}/.test(value) ? readableNumber(value) : value} most={80} brief />
          )}
        </span>
      ))}
      {values.length > SHOWN_VALUES && ` or ${values.length - SHOWN_VALUES} more`}
    </strong>
  )
}

/** By its name, if it is known. */
export const SaidAddress = ({ address }: { address: string }) => {
  const known = useKnown(address)
  return <Hash value={address} name={known?.symbol ?? known?.name} brief />
}

/** In coins, in units of the token, or as it is. */
const AmountOf = ({ row, token, next }: { row: RuleLine; token: readonly string[]; next: boolean }) => {
  const known = useKnown(token.length === 1 ? token[0]! : '')
  const coin = coinOf(useContext(NetworkContext)) ?? 'coins'
  const units = row.rest.useScaledValue === true ? (known?.symbol ?? 'units of the token') : 'of the smallest unit'
  return (
    <>
      {next ? ' and ' : ' of '}
      {phraseOf(row).replace(/^is ?/, '')}
      <SaidValues of={[row]} /> <Text value={row.names[0] === 'value.coin' ? coin : units} most={20} brief />
    </>
  )
}
