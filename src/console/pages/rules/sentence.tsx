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
import { fieldWords, isInUnits, isNone, measureWords, readableNumber, spanWords } from './window-words.ts'

const SHOWN_VALUES = 3

/** The rule as people say it. */
export const RuleSentence = ({ rule }: { rule: JsonObject }) => {
  const network = ruleNetwork(rule)
  const when = valueAt(rule, 'config.when')
  const steps = listAt(when, 'steps')
  const first = valueAt(steps[0], 'targetMap') === undefined ? rule.config : steps[0]
  const receivers = listAt(rule, 'config.alerts').map(receiverOf).filter(Boolean)
  const isOfState = targetOf(rule) === 'State'
  return (
    <NetworkContext.Provider value={network}>
      <p class="sentence card">
        Notify{' '}
        {receivers.length === 0 ? (
          <span class="dim">nobody yet</span>
        ) : (
          <Text value={receivers.join(' and ')} most={120} brief />
        )}{' '}
        of <AlertLead when={when} isOfState={isOfState} token={namedContracts(first)} />
        <LookedFor config={first} network={textAt(steps[0], 'network')} />
        {steps.slice(1).map((step, i) => (
          <span key={i}>
            {stepLead(step, i)}
            <LookedFor config={step} network={textAt(step, 'network')} />
          </span>
        ))}
        {steps.length > 0 ? <StepsSpan when={when} /> : windowSpan(when, isOfState)}
        {isOfState && <SaidEnd resolve={listAt(when, 'resolve')} />} on{' '}
        {network === '*/*/*' ? (
          `all networks${valueAt(when, 'across') === true ? ' together' : ''}`
        ) : (
          <Text value={network.split('/').slice(1).join(' ')} brief />
        )}
        , {firesWhen(rule.maxConfirmationCount ?? 0)}
        {notifyWords(valueAt(rule, 'config.notify'))}.
      </p>
    </NetworkContext.Provider>
  )
}

const saidRows = (conditions: readonly Json[]): RuleLine[] =>
  toRuleLines(conditions).filter(it => operandsOf(it).length > 0)

const namedContracts = (config: Json | undefined): string[] =>
  saidRows(listAt(config, 'targetMap'))
    .filter(it => sayableRole(it) === 'contract')
    .flatMap(operandsOf)

/** What a rule or a step looks for, such as ` DUSD Transfer of more than 5 DUSD`. */
const LookedFor = ({ config, network }: { config: Json | undefined; network?: string | undefined }) => {
  const conditions = listAt(config, 'targetMap')
  const rows = saidRows(conditions)
  const of = (role: ConditionRole) => rows.filter(it => sayableRole(it) === role)
  const target = TARGETS.find(({ type }) => type === textAt(config, 'targetType'))
  const [contracts, names] = [of('contract'), of('what')]
  const noun = target?.type === 'Event' && names.length > 0 ? '' : (target?.noun ?? 'document')
  const others = rows.filter(it => sayableRole(it) === undefined)
  return (
    <>
      <SaidValues of={contracts} />
      <SaidValues of={names} />
      {noun && ` ${noun}`}
      {target?.type === 'State' && <ReadOf read={valueAt(config, 'read')} />}
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
          {i === 0 ? ' whose' : ' and whose'}
          <SaidCondition row={row} />
        </span>
      ))}
      {conditions.some(it => hasLogic([it])) && ', with further conditions,'}
      {network !== undefined && (
        <>
          {' '}
          on <Text value={network.split('/').slice(1).join(' ')} brief />
        </>
      )}
    </>
  )
}

const SaidCondition = ({ row }: { row: RuleLine }) => (
  <>
    {' '}
    <Text value={plainName(row.names)} most={60} brief /> {phraseOf(row)}
    <SaidValues of={[row]} />
    {row.rest.useScaledValue === true && ' in units of the token'}
  </>
)

const stepLead = (step: Json, i: number): string => {
  if (valueAt(step, 'missing') === true) return i === 0 ? ' not followed by' : ', but not by'
  return i === 0 ? ' followed by' : ', then'
}

/** ` with the same address within 300 blocks, unless CallScheduled comes before,`. */
const StepsSpan = ({ when }: { when: Json | undefined }) => {
  const same = listAt(listAt(when, 'steps')[0], 'by').map(name => fieldWords(String(name)))
  const until = valueAt(when, 'until')
  return (
    <>
      {same.length > 0 && ` with the same ${same.join(' and ')}`} within {spanWords(valueAt(when, 'within')) || '…'},
      {until !== undefined && (
        <>
          {' '}
          unless
          <LookedFor config={until} /> comes before,
        </>
      )}
    </>
  )
}

/** ` over once value.coin is at least 1,`. */
const SaidEnd = ({ resolve }: { resolve: readonly Json[] }) => {
  const rows = saidRows(resolve)
  return (
    <>
      {rows.map((row, i) => (
        <span key={i}>
          {i === 0 ? ' over once' : ' and'}
          <SaidCondition row={row} />
        </span>
      ))}
      {rows.length > 0 && ','}
    </>
  )
}

interface LeadProps {
  when: Json | undefined
  isOfState: boolean
  token: readonly string[]
}

/** What of the matches is an alert, before their name. */
const AlertLead = ({ when, isOfState, token }: LeadProps) => {
  const known = useKnown(token.length === 1 ? token[0]! : '')
  const conditions = listAt(when, 'conditions')
  if (conditions.length === 0) return <>{isOfState && when !== undefined ? 'the newest' : 'each'}</>
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
  const compared = valueAt(condition, 'relativeTo.windows')
  const units =
    compared !== undefined ? ` times the mean of the ${compared} windows before` : isInUnits(name) ? ` ${unit}` : ''
  const amount = `${phrase} ${readableNumber(value) || '…'}${units}`
  if (compared !== undefined) return `a ${measureWords(aggregate, name)} of ${amount}`
  if (aggregate === 'Count') return isAlone ? amount : `${amount} matches`
  if (aggregate === 'Distinct') return `${amount} different ${fieldWords(name)}`
  if (aggregate === 'Sum' && isInUnits(name)) return amount
  return `${/^[aeiou]/i.test(aggregate) ? 'an' : 'a'} ${measureWords(aggregate, name)} of ${amount}`
}

/** ` to one receiver within 10 minutes,`. */
const windowSpan = (when: Json | undefined, isOfState: boolean): string => {
  if (when === undefined) return ''
  const span = spanWords(valueAt(when, 'within'))
  const conditions = listAt(when, 'conditions')
  const isSilent = conditions.length === 1 && isNone(conditions[0])
  const each = listAt(when, 'by')
    .map(String)
    .map(name => {
      const role = isOfState ? undefined : roleOf({ names: name.split('.') })
      return BY_WORDS[role ?? ''] ?? `for each ${fieldWords(name)}`
    })
  const held = spanWords(valueAt(when, 'hold'))
  const words = [...each, span && `${isSilent ? 'for' : 'within'} ${span}`].filter(Boolean)
  return `${words.length > 0 ? ` ${words.join(' ')},` : ''}${held && ` held for ${held},`}`
}

const BY_WORDS: Partial<Record<string, string>> = {
  ...{ sender: 'from one sender', receiver: 'to one receiver', contract: 'of one contract' },
}

const notifyWords = (notify: Json | undefined): string => {
  const [quiet, group, again] = ['quiet', 'group.wait', 'again'].map(it => valueAt(notify, it))
  const same = listAt(quiet, 'by').map(name => fieldWords(String(name)))
  return [
    valueAt(notify, 'resolved') === true && ', and again when it is over',
    again !== undefined &&
      `, again each ${spanWords(valueAt(again, 'after')).replace(/^1 /, '')} while it lasts${valueAt(again, 'if') === undefined ? '' : ', if it is worse'}`,
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
