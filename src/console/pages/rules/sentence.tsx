import { useContext } from 'preact/hooks'
import { type Json, type JsonObject, listAt } from '../../api/json.ts'
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
        of each
        <SaidValues of={contracts} />
        <SaidValues of={names} />
        {noun && ` ${noun}`}
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
        {listAt(rule, 'config.targetMap').filter(it => hasLogic([it])).length > 0 && ', with further conditions,'} on{' '}
        {network === '*/*/*' ? 'all networks' : <Text value={network.split('/').slice(1).join(' ')} brief />},{' '}
        {firesWhen(rule.maxConfirmationCount ?? 0)}.
      </p>
    </NetworkContext.Provider>
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

const phraseOf = ({ rest: { operator } }: RuleLine): string =>
  OPERATOR_PHRASES[operator as keyof typeof OPERATOR_PHRASES] ?? String(operator)

/** Roles have words of their own where the operator fits. */
const sayableRole = (row: RuleLine): ConditionRole | undefined => {
  const role = roleOf(row)
  return role === 'amount' || String(row.rest.operator).startsWith('Equals') ? role : undefined
}

const SaidValues = ({ of }: { of: readonly RuleLine[] }) => {
  const values = of.flatMap(operandsOf)
  const shown = values.slice(0, SHOWN_VALUES)
  if (values.length === 0) return null
  return (
    <strong>
      {' '}
      {shown.map((value, i) => (
        <span key={i}>
          {i > 0 && (i === values.length - 1 ? ' or ' : ', ')}
          {isWholeAddress(value) ? (
            <SaidAddress address={value} />
          ) : (
            <Text value={readableDigits(value)} most={80} brief />
          )}
        </span>
      ))}
      {values.length > SHOWN_VALUES && ` or ${values.length - SHOWN_VALUES} more`}
    </strong>
  )
}

/** Groups the digits of a long integer. */
const readableDigits = (value: string): string => (/^\d{4,77}$/.test(value) ? BigInt(value).toLocaleString() : value)

const SaidAddress = ({ address }: { address: string }) => {
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
