import { covers, isWide } from '../../../rules/rule.ts'
import { useGet } from '../../api/ask.ts'
import { isJsonObject, type Json, type JsonObject, listAt, textAt, valueAt } from '../../api/json.ts'
import type { Status } from '../../api/wire.ts'
import { Button, CheckField, SelectField, TextField } from '../../parts/controls.tsx'
import { IconButton } from '../../parts/menu.tsx'
import { Conditions, type ConditionsProps, Odd, partAsRule, TargetField, withTarget } from './conditions.tsx'
import { asDottedName, dottedText, fieldChoices, type KnownFields, useKnownFields } from './known-fields.ts'
import { type FaultAt, firstCondition, ruleNetwork, TARGETS, targetOf, withMember } from './model.ts'
import { NamesField } from './span.tsx'
import { fieldWords } from './window-words.ts'

const MOST_RULE_STEPS = 5
const UNTIL_PLACE = 'config.when.until'

/** Steps to begin with, for the same values as windows of the rule had. */
export const firstSteps = (draft: JsonObject): JsonObject => {
  const by = listAt(draft, 'config.when.by')
  return {
    steps: [withNames({}, by), newStep(draft, by)],
    within: valueAt(draft, 'config.when.within') ?? { seconds: 3_600 },
  }
}

const newStep = (draft: JsonObject, by: Json[]): JsonObject => {
  const targetType = targetOf(draft)
  return withNames({ targetType, targetMap: [firstCondition(targetType)] }, by)
}

const withNames = (step: JsonObject, by: Json[]): JsonObject => withMember(step, 'by', by.length === 0 ? undefined : by)

interface StepsProps extends ConditionsProps {
  when: JsonObject
  onChange(when: JsonObject): void
}

/** What must come after the first match, and what must not. */
export const Steps = ({ draft, when, known, faultAt, onChange }: StepsProps) => {
  const steps = listAt(when, 'steps')
  const [first = {}, ...further] = steps
  const { until } = when
  const names = listAt(first, 'by')
  const isMissing = valueAt(steps.at(-1), 'missing') === true
  const set = (next: Json[]) => onChange({ ...when, steps: next })
  const setFirst = (next: JsonObject) => set([next, ...further])
  const setNames = (next: Json[] = []) => {
    const paired = (step: Json) =>
      isJsonObject(step) ? withNames(step, pairedNames(listAt(step, 'by'), names, next)) : step
    const ends = until === undefined ? {} : { until: paired(until) }
    onChange({ ...when, steps: [withNames(first as JsonObject, next), ...further.map(paired)], ...ends })
  }
  const add = () => set(steps.toSpliced(isMissing ? -1 : steps.length, 0, newStep(draft, names)))
  const shared = { draft, names, faultAt }
  return (
    <>
      {faultAt('config.when.steps') !== undefined && <p class="fault">{faultAt('config.when.steps')}</p>}
      {valueAt(first, 'targetMap') === undefined ? (
        <>
          <p class="dim">The first step is what meets the conditions above.</p>
          <StepNetwork {...{ draft, faultAt }} step={first} at="config.when.steps[0]" onChange={setFirst} />
        </>
      ) : (
        <StepFields {...shared} names={[]} step={first} label="Step 1" at="config.when.steps[0]" onChange={setFirst} />
      )}
      <NamesField label="For each" path="config.when.steps[0].by" {...{ names, known, faultAt }} onChange={setNames} />
      {further.map((step, i) => (
        <StepFields
          key={i}
          {...{ ...shared, step }}
          label={`Step ${i + 2}`}
          at={`config.when.steps[${i + 1}]`}
          mayBeMissing={i === further.length - 1}
          onChange={next => set(steps.with(i + 1, next))}
          onRemove={further.length > 1 ? () => set(steps.toSpliced(i + 1, 1)) : undefined}
        />
      ))}
      {until !== undefined && (
        <StepFields
          {...shared}
          step={until}
          label="What ends it without an alert"
          at={UNTIL_PLACE}
          onChange={next => onChange({ ...when, until: next })}
          onRemove={() => onChange(withMember(when, 'until', undefined))}
        />
      )}
      <p class="line">
        {steps.length < MOST_RULE_STEPS && <Button label="+ Another step" onClick={add} />}
        {until === undefined && (
          <Button
            label="+ What ends it without an alert"
            onClick={() => onChange({ ...when, until: newStep(draft, names) })}
          />
        )}
      </p>
    </>
  )
}

/** Names of a step after a change of those of the first, with which they are paired; equal ones stay equal. */
const pairedNames = (own: Json[], before: readonly Json[], after: readonly Json[]): Json[] => {
  const at = before.findIndex((name, i) => name !== after[i])
  if (after.length > before.length) return [...own, after.at(-1)!]
  if (after.length < before.length) return own.toSpliced(at, 1)
  return at >= 0 && own[at] === before[at] ? own.with(at, after[at]!) : own
}

const STEP_TARGETS = TARGETS.filter(({ kind }) => kind).map(({ type, label }) => ({ value: type, label }))

interface StepFieldsProps {
  draft: JsonObject
  step: Json
  label: string
  /** Place in the rule, for faults. */
  at: string
  /** Names of the first step. */
  names: readonly Json[]
  mayBeMissing?: boolean
  faultAt: FaultAt
  onChange(step: JsonObject): void
  onRemove?: (() => void) | undefined
}

const StepFields = ({ draft, step, label, at, names, mayBeMissing, faultAt, onChange, onRemove }: StepFieldsProps) => {
  const config = isJsonObject(step) ? step : {}
  const rule = partAsRule({ draft, faultAt }, { config, place: 'config', at })
  const known = useKnownFields(rule.draft)
  const setRule = (next: JsonObject) => onChange(next.config as JsonObject)
  if (!isJsonObject(step)) return <Odd label={label} onRemove={onRemove ?? (() => onChange({}))} />
  const by = listAt(step, 'by')
  return (
    <fieldset class="receiver" aria-label={label}>
      <div class="channel">
        <h3>{label}</h3>
        {onRemove && <IconButton icon="close" label={`Remove ${label.toLowerCase()}`} onClick={onRemove} />}
      </div>
      {faultAt(at) !== undefined && <p class="fault">{faultAt(at)}</p>}
      <TargetField {...rule} types={STEP_TARGETS} onChange={type => setRule(withTarget(rule.draft, type))} />
      {at !== UNTIL_PLACE && <StepNetwork {...{ draft, step, at, faultAt, onChange }} />}
      <Conditions {...rule} known={known} onChange={setRule} />
      {names.length > 0 && (
        <SameNames {...{ names, by, known, faultAt, at }} onChange={next => onChange({ ...step, by: next })} />
      )}
      {faultAt(`${at}.by`) !== undefined && <p class="fault">{faultAt(`${at}.by`)}</p>}
      {(mayBeMissing || step.missing !== undefined) && (
        <CheckField
          label="It must not come"
          checked={step.missing === true}
          onChange={checked => onChange(withMember(step, 'missing', checked || undefined))}
        />
      )}
      {faultAt(`${at}.missing`) !== undefined && <p class="fault">{faultAt(`${at}.missing`)}</p>}
    </fieldset>
  )
}

type StepNetworkProps = Pick<StepFieldsProps, 'draft' | 'step' | 'at' | 'faultAt' | 'onChange'>

/** In which network a step of a rule of several comes. */
const StepNetwork = ({ draft, step, at, faultAt, onChange }: StepNetworkProps) => {
  const status = useGet<Status>('status')
  const network = textAt(step, 'network')
  const rule = ruleNetwork(draft)
  if (network === undefined && !isWide(rule)) return null
  const known = (status.data?.networks ?? []).map(it => it.network).filter(it => covers(rule, it))
  return (
    <SelectField
      label="In the network"
      value={network ?? ''}
      options={[
        { value: '', label: 'any of the rule' },
        ...new Set([...(network === undefined ? [] : [network]), ...known]),
      ]}
      error={faultAt(`${at}.network`)}
      onChange={next => onChange(withMember(step, 'network', next || undefined))}
    />
  )
}

interface SameProps {
  names: readonly Json[]
  by: readonly Json[]
  known: KnownFields
  at: string
  faultAt: FaultAt
  onChange(by: Json[]): void
}

/** What has the same values as the names of the first step. */
const SameNames = ({ names, by, known, at, faultAt, onChange }: SameProps) => {
  const own = [...names.map((_, i) => by[i] ?? ''), ...by.slice(names.length)]
  return (
    <div class="pair">
      {own.map((name, i) => (
        <TextField
          key={i}
          label={`Same as ${fieldWords(String(names[i] ?? '')) || 'nothing'}`}
          value={dottedText(String(name), known)}
          suggestions={fieldChoices(known)}
          error={faultAt(`${at}.by[${i}]`)}
          onInput={typed => onChange(own.with(i, asDottedName(typed, known, false)))}
        />
      ))}
    </div>
  )
}
