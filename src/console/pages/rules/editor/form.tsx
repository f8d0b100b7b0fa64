import { getStatus } from '../../../api/index.ts'
import { type JsonObject, textAt } from '../../../api/json.ts'
import { useAsk } from '../../../api/use-ask.ts'
import type { Hit } from '../../../api/wire.ts'
import { CheckField, SelectField, TextField } from '../../../parts/field.tsx'
import { put, putConfig, TARGETS, targetOf } from '../model.ts'
import { networkOf } from '../wire.ts'
import { Channels } from './channels.tsx'
import { Conditions } from './conditions.tsx'
import type { FaultAt } from './places.ts'

interface Props {
  draft: JsonObject
  example: Hit | undefined
  faultAt: FaultAt
  onChange(draft: JsonObject): void
}

/** All of a rule as fields. */
export const RuleForm = ({ draft, example, faultAt, onChange }: Props) => {
  const set = (name: string, value: JsonObject[string] | undefined) => onChange(put(draft, name, value))
  const status = useAsk('status', getStatus)
  const network = networkOf(draft)
  const networks = (status.data?.networks ?? []).map(it => it.network)
  const target = targetOf(draft)
  const setNetwork = (next: string) => {
    const [technology = '', blockchain = '', name = ''] = next.split('/')
    onChange({ ...draft, technology, blockchain, network: name })
  }
  return (
    <>
      <TextField
        label="Name"
        value={textAt(draft, 'name') ?? ''}
        error={faultAt('name')}
        onInput={value => set('name', value)}
      />
      <div class="line">
        <SelectField
          label="Network"
          value={network}
          options={optionsOf(networks, network)}
          error={faultAt('network') ?? faultAt('technology') ?? faultAt('blockchain')}
          onChange={setNetwork}
        />
        <SelectField
          label="Looks at"
          value={target}
          options={[
            ...TARGETS.map(({ type, label }) => ({ value: type, label })),
            ...(TARGETS.some(({ type }) => type === target) ? [] : [{ value: target, label: target }]),
          ]}
          error={faultAt('config.targetType')}
          onChange={value => onChange(putConfig(draft, 'targetType', value))}
        />
      </div>
      <Conditions draft={draft} faultAt={faultAt} onChange={onChange} />
      <NumberField
        label="Confirmations"
        hint="How many blocks must follow the block of a match before the rule fires. With 0 it fires at once. Or safe or finalized, as nodes tell."
        value={draft.maxConfirmationCount}
        error={faultAt('maxConfirmationCount')}
        onChange={value => set('maxConfirmationCount', value ?? '')}
      />
      <Channels draft={draft} example={example} faultAt={faultAt} onChange={onChange} />
      <section aria-label="Further settings">
        <h2>Further settings</h2>
        <CheckField
          label="Also notify while an alert is pending"
          checked={draft.notifyPending === true}
          onChange={checked => set('notifyPending', checked || undefined)}
        />
        <NumberField
          label="Start block"
          hint="The first block to look at; empty for the next one. If you change it, the rule looks at the blocks from there on again, and fires again."
          value={draft.startBlock}
          error={faultAt('startBlock')}
          onChange={value => set('startBlock', value)}
        />
        <TextField
          label="Description"
          value={textAt(draft, 'description') ?? ''}
          error={faultAt('description')}
          onInput={value => set('description', value === '' ? undefined : value)}
        />
      </section>
    </>
  )
}

const ALL = '*/*/*'

const optionsOf = (networks: readonly string[], current: string) =>
  [...new Set([current, ...networks, ...(networks.length > 1 ? [ALL] : [])])].map(value => ({
    value,
    label: value === ALL ? 'All networks' : value,
  }))

interface NumberProps {
  label: string
  hint: string
  value: unknown
  error: string | undefined
  onChange(value: number | string | undefined): void
}

/** An integer; text that is none stays as it was typed, and the server says what is wrong with it. */
const NumberField = ({ value, onChange, ...rest }: NumberProps) => (
  <TextField
    {...rest}
    value={value === null || value === undefined ? '' : String(value)}
    onInput={text => onChange(text === '' ? undefined : /^\d{1,15}$/.test(text) ? Number(text) : text)}
  />
)
