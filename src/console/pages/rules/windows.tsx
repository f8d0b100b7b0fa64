import { isWide } from '../../../rules/rule.ts'
import { isJsonObject, type Json, type JsonObject, listAt, textAt, valueAt } from '../../api/json.ts'
import { Button, CheckField, SelectField, TextField } from '../../parts/controls.tsx'
import { IconButton } from '../../parts/menu.tsx'
import { useKnown } from '../../parts/names.ts'
import { type ConditionsProps, LinesField, Odd } from './conditions.tsx'
import { asDottedName, dottedText, fieldChoices, type KnownFields, mayBeInUnits } from './known-fields.ts'
import { type FaultAt, numberOrText, OPERATOR_PHRASES, ruleNetwork, withConfig, withMember } from './model.ts'
import { HoldField, NamesField, SpanField } from './span.tsx'
import { firstSteps, Steps } from './steps.tsx'
import { AGGREGATE_CHOICES, isInUnits, isNone, unitless, type WindowAggregate } from './window-words.ts'

const TOO_OFTEN: JsonObject = { aggregate: 'Count', operator: 'Greater', value: '10' }
const TOTAL: JsonObject = { aggregate: 'Sum', name: '', operator: 'Greater', value: '' }
const WITHOUT_MATCH: JsonObject = { aggregate: 'Count', operator: 'Less', value: '1' }
const FIRST_VALUE: JsonObject = { aggregate: 'First', name: '' }
const OTHER_SHAPE = 'other'

/** What rules over time are for, with what each begins with. */
const SHAPES: readonly { value: string; label: string; first?: JsonObject; seconds?: number }[] = [
  { value: 'each', label: 'each match' },
  { value: 'often', label: 'matches that come too often', first: TOO_OFTEN, seconds: 600 },
  { value: 'total', label: 'matches that are too much together', first: TOTAL, seconds: 600 },
  { value: 'silent', label: 'no match for a time', first: WITHOUT_MATCH, seconds: 3_900 },
  { value: 'new', label: 'a value that is seen for the first time', first: FIRST_VALUE, seconds: 86_400 },
  { value: 'steps', label: 'matches that follow each other' },
]

/** Which of the shapes a rule has. */
const windowShape = (when: Json | undefined): string => {
  if (when === undefined) return 'each'
  if (valueAt(when, 'steps') !== undefined) return 'steps'
  const [first, ...others] = listAt(when, 'conditions')
  const [aggregate, operator] = [textAt(first, 'aggregate'), textAt(first, 'operator') ?? '']
  if (others.length > 0) return OTHER_SHAPE
  if (aggregate === 'First') return 'new'
  if (aggregate === 'Count' && isNone(first)) return 'silent'
  if (aggregate === 'Count' && operator.startsWith('Greater')) return 'often'
  return aggregate === 'Sum' && operator.startsWith('Greater') ? 'total' : OTHER_SHAPE
}

/** Whether each match is an alert, or what they are together. */
export const Windows = ({ draft, known, faultAt, onChange }: ConditionsProps) => {
  const when = valueAt(draft, 'config.when')
  const shape = windowShape(when)
  const set = (next: Json | undefined) => onChange(withConfig(draft, 'when', next))
  const setShape = (next: string) => {
    if (next === 'steps') return onChange(withConfig(withoutWindows(draft), 'when', firstSteps(draft)))
    const { first, seconds = 600 } = SHAPES.find(({ value }) => value === next) ?? {}
    if (!first) return onChange(withoutWindows(draft))
    const amount = first === TOTAL && known.arguments.find(({ isScaled }) => isScaled)?.name
    const condition = amount ? { ...first, name: `args.${amount}.scaled` } : first
    const before: JsonObject = isJsonObject(when) ? when : { within: { seconds } }
    const { steps: _, until: _u, resolve, ...kept } = before
    const by = valueAt(listAt(when, 'steps')[0], 'by')
    // A first value has no end.
    const end = first === FIRST_VALUE || resolve === undefined ? {} : { resolve }
    set({ ...(by !== undefined && { by }), ...kept, conditions: [condition], ...end })
  }
  const shapes = SHAPES.map(({ value, label }) => ({ value, label }))
  const choice = (
    <SelectField
      label="Notify of"
      value={shape}
      options={
        shape === OTHER_SHAPE ? [...shapes, { value: OTHER_SHAPE, label: 'several conditions over time' }] : shapes
      }
      error={faultAt('config.when')}
      onChange={setShape}
    />
  )
  return (
    <section aria-label="What is an alert">
      <h2>What is an alert</h2>
      <div class="pair">
        {choice}
        {isJsonObject(when) && (
          <SpanField
            label="Within"
            value={when.within}
            error={faultAt('config.when.within', { inside: true })}
            onChange={within => set({ ...when, within })}
          />
        )}
      </div>
      {isJsonObject(when) && <Across {...{ draft, when, faultAt }} onChange={set} />}
      {isJsonObject(when) &&
        (shape === 'steps' ? (
          <Steps {...{ draft, when, known, faultAt }} onChange={set} />
        ) : (
          <WindowFields {...{ when, known, faultAt }} onChange={set} />
        ))}
      {when !== undefined && !isJsonObject(when) && <Odd label="part (when)" onRemove={() => set(undefined)} />}
    </section>
  )
}

interface AcrossProps extends Omit<ConditionsProps, 'known'> {
  when: JsonObject
}

/** Whether it looks at all networks of the rule as one. */
const Across = ({ draft, when, faultAt, onChange }: AcrossProps) => {
  const { across } = when
  if (across === undefined && !isWide(ruleNetwork(draft))) return null
  return (
    <>
      <CheckField
        label="Over all its networks together"
        checked={across === true}
        onChange={checked => onChange(withMember(when, 'across', checked || undefined))}
      />
      {faultAt('config.when.across') !== undefined && <p class="fault">{faultAt('config.when.across')}</p>}
    </>
  )
}

/** Without what windows alone have. */
export const withoutWindows = (draft: JsonObject): JsonObject => {
  const notify = valueAt(draft, 'config.notify')
  const left = isJsonObject(notify) ? withMember(withMember(notify, 'resolved', undefined), 'again', undefined) : notify
  const isEmpty = isJsonObject(left) && Object.keys(left).length === 0
  return withConfig(withConfig(draft, 'when', undefined), 'notify', isEmpty ? undefined : left)
}

interface WindowProps {
  when: JsonObject
  known: KnownFields
  faultAt: FaultAt
  onChange(when: JsonObject): void
}

const MOST_CONDITIONS = 4

const WindowFields = ({ when, known, faultAt, onChange }: WindowProps) => {
  const by = listAt(when, 'by')
  const set = (name: string, value: Json | undefined) => onChange(withMember(when, name, value))
  const lists = { when, known, faultAt, onSet: set }
  const hasFirst = listAt(when, 'conditions').some(it => textAt(it, 'aggregate') === 'First')
  return (
    <>
      <WindowConditions {...lists} of="conditions" label="condition over time" />
      <NamesField
        label="For each"
        names={by}
        path="config.when.by"
        {...{ known, faultAt }}
        onChange={names => set('by', names)}
      />
      {(by.length === 1 || when.keys !== undefined) && (
        <LinesField
          label="Watched although nothing matches (optional)"
          error={faultAt('config.when.keys', { inside: true })}
          value={when.keys}
          onChange={keys => set('keys', keys.length === 0 ? undefined : keys)}
        />
      )}
      {(!hasFirst || when.hold !== undefined) && (
        <HoldField when={when} error={faultAt('config.when.hold', { inside: true })} onChange={onChange} />
      )}
      {!hasFirst && (
        <>
          {when.resolve !== undefined && <h3>Over once this holds as well</h3>}
          <WindowConditions {...lists} of="resolve" label="condition of the end" />
        </>
      )}
    </>
  )
}

interface ConditionListProps extends Omit<WindowProps, 'onChange'> {
  of: 'conditions' | 'resolve'
  label: string
  onSet(name: string, value: Json | undefined): void
}

const WindowConditions = ({ when, of, label, known, faultAt, onSet }: ConditionListProps) => {
  const all = listAt(when, of)
  const set = (next: Json[]) => onSet(of, next.length === 0 && of === 'resolve' ? undefined : next)
  const path = `config.when.${of}`
  const fault = faultAt(path)
  return (
    <>
      {fault !== undefined && <p class="fault">{fault}</p>}
      <div class="conditions">
        {all.map((condition, i) => (
          <WindowLine
            key={i}
            {...{ condition, known, faultAt, of }}
            label={`${label} ${i + 1}`}
            path={`${path}[${i}]`}
            onChange={next => set(all.with(i, next))}
            onRemove={() => set(all.toSpliced(i, 1))}
          />
        ))}
      </div>
      {all.length < MOST_CONDITIONS && (of === 'resolve' || all.length > 0) && (
        <p class="line">
          <Button
            label={of === 'resolve' ? '+ A condition of the end' : '+ A condition that must hold as well'}
            onClick={() => set([...all, of === 'resolve' ? WITHOUT_MATCH : TOO_OFTEN])}
          />
        </p>
      )}
    </>
  )
}

interface WindowLineProps {
  condition: Json
  label: string
  path: string
  of: 'conditions' | 'resolve'
  known: KnownFields
  faultAt: FaultAt
  onChange(condition: JsonObject): void
  onRemove(): void
}

const WINDOW_OPERATOR_CHOICES = (['Greater', 'Greater or Equal', 'Less', 'Less or Equal', 'Equals'] as const).map(
  value => ({
    ...{ value, label: OPERATOR_PHRASES[value] },
  }),
)

const WindowLine = ({ condition, label, path, of, known, faultAt, onChange, onRemove }: WindowLineProps) => {
  const token = useKnown(known.contract)
  if (!isJsonObject(condition)) return <Odd label={label} onRemove={onRemove} />
  const [aggregate, name] = [textAt(condition, 'aggregate') ?? '', textAt(condition, 'name') ?? '']
  const isFirst = aggregate === 'First'
  const set = (member: string, value: Json | undefined) => onChange(withMember(condition, member, value))
  const { relativeTo } = condition
  const setAggregate = (next: string) => {
    const compared = ADDED_UP.has(next) ? relativeTo : undefined
    const kept = withMember({ ...condition, aggregate: next }, 'relativeTo', compared)
    const named = withMember(kept, 'name', next === 'Count' ? undefined : name)
    const [operator, value] = next === 'First' ? [] : [condition.operator ?? 'Greater', condition.value ?? '']
    onChange(withMember(withMember(named, 'operator', operator), 'value', value))
  }
  const isNumber = NUMERIC.has(aggregate)
  return (
    <fieldset class="condition over-time" aria-label={label}>
      <SelectField
        label="What"
        value={aggregate}
        options={AGGREGATE_CHOICES.filter(({ value }) => of === 'conditions' || value !== 'First')}
        error={faultAt(`${path}.aggregate`) ?? faultAt(path)}
        onChange={setAggregate}
      />
      {aggregate !== 'Count' && (
        <div>
          <TextField
            label="Of"
            value={dottedText(name, known)}
            suggestions={fieldChoices(known)}
            error={faultAt(`${path}.name`)}
            onInput={typed => set('name', asDottedName(typed, known, isNumber))}
          />
          {isNumber && mayBeInUnits(name, known) && (
            <CheckField
              label={`In units of ${token?.symbol ?? 'the token'}`}
              checked={isInUnits(name)}
              onChange={checked => set('name', checked ? `${name}.scaled` : unitless(name))}
            />
          )}
        </div>
      )}
      {!isFirst && (
        <SelectField
          label="Operator"
          value={textAt(condition, 'operator') ?? ''}
          options={WINDOW_OPERATOR_CHOICES}
          error={faultAt(`${path}.operator`)}
          onChange={next => set('operator', next)}
        />
      )}
      {!isFirst && (
        <div>
          <TextField
            label="Value"
            value={textAt(condition, 'value') ?? ''}
            error={faultAt(`${path}.value`)}
            onInput={next => set('value', next)}
          />
          {(ADDED_UP.has(aggregate) || relativeTo !== undefined) && (
            <CheckField
              label="Times the mean before"
              checked={relativeTo !== undefined}
              onChange={checked => set('relativeTo', checked ? { windows: 12 } : undefined)}
            />
          )}
          {relativeTo !== undefined && (
            <TextField
              label="Of so many windows"
              value={String(valueAt(relativeTo, 'windows') ?? '')}
              error={faultAt(`${path}.relativeTo`, { inside: true })}
              onInput={text => set('relativeTo', withMember(relativeTo, 'windows', numberOrText(text)))}
            />
          )}
        </div>
      )}
      <IconButton icon="close" label={`Remove ${label}`} onClick={onRemove} />
    </fieldset>
  )
}

/** What can be compared with windows before. */
const ADDED_UP: ReadonlySet<string> = new Set<WindowAggregate>(['Count', 'Sum'])
const NUMERIC: ReadonlySet<string> = new Set<WindowAggregate>(['Sum', 'Minimum', 'Maximum', 'Average'])
