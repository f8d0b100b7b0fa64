import { useState } from 'preact/hooks'
import { useAsk } from '../../api/ask.ts'
import { isJsonObject, type Json, type JsonObject, listAt, textAt, valueAt } from '../../api/json.ts'
import { Button, SelectField, TextField } from '../../parts/controls.tsx'
import { useKnown } from '../../parts/names.ts'
import { suggestValues } from './api.ts'
import { Conditions, type ConditionsProps, LinesField, partAsRule } from './conditions.tsx'
import { type FaultAt, isWholeAddress, numberOrText, ruleNetwork, withConfig, withMember } from './model.ts'
import { HoldField } from './span.tsx'
import { withoutWindows } from './windows.tsx'

interface ReadingProps {
  draft: JsonObject
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

const READ_EVERY: JsonObject = { blocks: 25 }
export const FIRST_READ: JsonObject = { balances: [], every: READ_EVERY }

/** What most ask of a reading. */
export const firstOfReading = (isOfCall: boolean): JsonObject => ({
  ...{ name: isOfCall ? '' : 'value.coin', operator: isOfCall ? 'Greater' : 'Less', value: '' },
})

const WHAT_IS_READ = [
  { value: 'balances', label: 'balances of coins' },
  { value: 'call', label: 'what a function answers' },
]

/** What a rule of state reads, and how often. */
export const ReadingForm = ({ draft, faultAt, onChange }: ReadingProps) => {
  const given = valueAt(draft, 'config.read')
  const read = isJsonObject(given) ? given : FIRST_READ
  const isOfCall = read.balances === undefined
  const set = (next: JsonObject) => onChange(withConfig(draft, 'read', next))
  const setKind = (next: string) => {
    const { balances: _, address: _a, call: _c, args: _g, decimals: _d, ...kept } = read
    const changed = next === 'call' ? { address: '', call: '', ...kept } : { balances: [], ...kept }
    // A balance has other names than an answer.
    onChange(withConfig(withConfig(draft, 'read', changed), 'targetMap', [firstOfReading(next === 'call')]))
  }
  const every = isJsonObject(read.every) ? read.every : READ_EVERY
  return (
    <section aria-label="What it reads">
      <h2>What it reads</h2>
      {faultAt('config.read') !== undefined && <p class="fault">{faultAt('config.read')}</p>}
      <div class="pair">
        <SelectField label="Reads" value={isOfCall ? 'call' : 'balances'} options={WHAT_IS_READ} onChange={setKind} />
        <TextField
          label="Every so many blocks"
          value={String(every.blocks ?? '')}
          error={faultAt('config.read.every', { inside: true })}
          onInput={text => set({ ...read, every: { ...every, blocks: numberOrText(text) } })}
        />
      </div>
      {isOfCall ? (
        <CallFields {...{ read, faultAt }} network={ruleNetwork(draft)} onChange={set} />
      ) : (
        <LinesField
          label="Addresses, one on each line"
          error={faultAt('config.read.balances', { inside: true })}
          value={read.balances}
          onChange={balances => set({ ...read, balances })}
        />
      )}
      <p class="dim">The rule begins with the next block. It cannot be tried on stored blocks, which have no state.</p>
    </section>
  )
}

interface CallProps {
  read: JsonObject
  network: string
  faultAt: FaultAt
  onChange(read: JsonObject): void
}

const CallFields = ({ read, network, faultAt, onChange }: CallProps) => {
  const [focused, setFocused] = useState(false)
  const address = textAt(read, 'address') ?? ''
  const call = textAt(read, 'call') ?? ''
  const sought = isWholeAddress(address) ? '' : address
  const contracts = useAsk(focused ? `contracts ${network} ${sought}` : undefined, signal =>
    suggestValues(network, 'contract', sought, signal),
  )
  const known = useKnown(isWholeAddress(address) ? address : '')
  const set = (name: string, value: Json | undefined) => onChange(withMember(read, name, value))
  const takesArguments = /\(\s*[^)\s]/.test(call)
  return (
    <>
      <TextField
        label="Contract"
        value={address}
        suggestions={contracts.data ?? []}
        hint={known?.symbol ?? known?.name}
        error={faultAt('config.read.address')}
        onInput={next => set('address', next)}
        onFocus={() => setFocused(true)}
      />
      <TextField
        label="Function"
        placeholder="function totalSupply() view returns (uint256 supply)"
        hint="Its declaration, with what it returns."
        value={call}
        error={faultAt('config.read.call')}
        onInput={next => set('call', next)}
      />
      {(takesArguments || read.args !== undefined) && (
        <LinesField
          label="Arguments, one on each line"
          error={faultAt('config.read.args', { inside: true })}
          value={read.args}
          onChange={args => set('args', args.length === 0 ? undefined : args)}
        />
      )}
      <TextField
        label="Decimals (optional)"
        hint="With them, amounts are compared in units: result.NAME.scaled."
        value={String(read.decimals ?? '')}
        error={faultAt('config.read.decimals')}
        onInput={text => set('decimals', text === '' ? undefined : numberOrText(text))}
      />
    </>
  )
}

const READING_SHAPES = [
  { value: 'each', label: 'each reading that meets them' },
  { value: 'once', label: 'the first one, until one does not meet them' },
]

/** The same of readings: each, or once for as long as they meet the conditions. */
export const ReadingWindows = ({ draft, known, faultAt, onChange }: ConditionsProps) => {
  const when = valueAt(draft, 'config.when')
  const set = (next: JsonObject) => onChange(withConfig(draft, 'when', next))
  const setShape = (next: string) => (next === 'each' ? onChange(withoutWindows(draft)) : set({ by: ['address'] }))
  return (
    <section aria-label="What is an alert">
      <h2>What is an alert</h2>
      <div class="pair">
        <SelectField
          label="Notify of"
          value={when === undefined ? 'each' : 'once'}
          options={READING_SHAPES}
          error={faultAt('config.when') ?? faultAt('config.when.by', { inside: true })}
          onChange={setShape}
        />
        {isJsonObject(when) && (
          <HoldField when={when} error={faultAt('config.when.hold', { inside: true })} onChange={set} />
        )}
      </div>
      {isJsonObject(when) && <EndOfReading {...{ draft, when, known, faultAt }} onChange={set} />}
    </section>
  )
}

interface EndProps extends ConditionsProps {
  when: JsonObject
  onChange(when: JsonObject): void
}

/** Conditions on the reading that ends an alert. */
const EndOfReading = ({ draft, when, known, faultAt, onChange }: EndProps) => {
  const { resolve } = when
  const config = { ...(draft.config as JsonObject), targetMap: resolve ?? [] }
  const set = (next: Json[]) => onChange(withMember(when, 'resolve', next.length === 0 ? undefined : next))
  if (resolve === undefined)
    return (
      <p class="line">
        <Button label="+ A condition of the end" onClick={() => set([oppositeOf(listAt(draft, 'config.targetMap'))])} />
      </p>
    )
  return (
    <fieldset class="receiver" aria-label="End">
      <h3>Over once these hold</h3>
      <Conditions
        {...partAsRule({ draft, faultAt }, { config, place: 'config.targetMap', at: 'config.when.resolve' })}
        known={known}
        onChange={next => set(listAt(next, 'config.targetMap'))}
      />
    </fieldset>
  )
}

const oppositeOf = ([first]: readonly Json[]): JsonObject => ({
  ...{ name: textAt(first, 'name') ?? '', value: '' },
  operator: textAt(first, 'operator')?.startsWith('Less') ? 'Greater or Equal' : 'Less or Equal',
})
