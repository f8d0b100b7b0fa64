import { useState } from 'preact/hooks'
import { isJsonObject, type Json, type JsonObject } from '../../api/json.ts'
import { Button, Select, TextField } from '../../parts/controls.tsx'
import { IconButton } from '../../parts/menu.tsx'
import { asDottedName, dottedText, fieldChoices, type KnownFields } from './known-fields.ts'
import { type FaultAt, numberOrText, withMember } from './model.ts'
import { fieldWords, SPAN_UNITS, unitOf } from './window-words.ts'

interface SpanProps {
  label: string
  /** With either `blocks` or `seconds`. */
  value: Json | undefined
  hint?: string
  error: string | undefined
  /** Where no number of blocks can be given. */
  inTime?: boolean
  onChange(value: JsonObject): void
}

/** A number of blocks, or a time in the unit that fits it; what is no number is kept, for the server to refuse. */
export const SpanField = ({ label, value, inTime = false, onChange, ...rest }: SpanProps) => {
  const [chosen, choose] = useState('')
  const span = isJsonObject(value) ? value : {}
  const { blocks, seconds } = span
  const isOfBlocks = !inTime && (blocks !== undefined || (seconds === undefined && chosen === 'block'))
  const lengthOf = (unit: string) => SPAN_UNITS.find(it => it.unit === unit)?.length || 1
  const isFitting =
    chosen !== '' && chosen !== 'block' && (typeof seconds !== 'number' || seconds % lengthOf(chosen) === 0)
  const timeUnit = isFitting ? chosen : typeof seconds === 'number' ? unitOf(seconds)[0] : 'minute'
  const unit = isOfBlocks ? 'block' : timeUnit
  const count = isOfBlocks ? blocks : typeof seconds === 'number' ? seconds / lengthOf(unit) : seconds
  const set = (text: string, next: string) => {
    choose(next)
    const kept = withMember(withMember(span, 'blocks', undefined), 'seconds', undefined)
    const given = numberOrText(text)
    const number = typeof given === 'number' ? given * lengthOf(next) : given
    onChange({ ...kept, [next === 'block' ? 'blocks' : 'seconds']: number })
  }
  const units = SPAN_UNITS.filter(({ length }) => !inTime || length > 0)
  return (
    <div class="span">
      <TextField {...{ label, ...rest }} value={String(count ?? '')} onInput={text => set(text, unit)} />
      <Select
        aria-label={`Unit of ${label.toLowerCase()}`}
        value={unit}
        options={units.map(({ unit }) => ({ value: unit, label: `${unit}s` }))}
        onChange={next => set(String(count ?? ''), next)}
      />
    </div>
  )
}

interface HoldProps {
  when: JsonObject
  error?: string | undefined
  onChange(when: JsonObject): void
}

/** How long conditions must hold. */
export const HoldField = ({ when, error, onChange }: HoldProps) => (
  <SpanField
    label="Held for (optional)"
    value={when.hold}
    hint="So long must all hold before it is an alert."
    error={error}
    onChange={hold => onChange(withMember(when, 'hold', Object.values(hold).every(it => it === '') ? undefined : hold))}
  />
)

interface NamesProps {
  /** What each of the fields is called, such as `for each`. */
  label: string
  names: readonly Json[]
  known: KnownFields
  /** Names beside those of fields. */
  others?: readonly string[]
  path: string
  faultAt: FaultAt
  /** Undefined without names. */
  onChange(names: Json[] | undefined): void
}

const MOST_BY_NAMES = 3

/** Up to three fields, whose values tell apart. */
export const NamesField = ({ label, names, known, others = [], path, faultAt, onChange }: NamesProps) => {
  const set = (next: Json[]) => onChange(next.length === 0 ? undefined : next)
  const choices = [...others.map(value => ({ value, kind: 'of the alert' })), ...fieldChoices(known)]
  const offered = OFFERED_NAMES.find(
    it => known.arguments.some(({ name }) => name === it) && !names.includes(`args.${it}`),
  )
  return (
    <>
      {names.map((name, i) => (
        <div class="span" key={i}>
          <TextField
            label={`${label} ${i + 1}`}
            value={dottedText(String(name), known)}
            suggestions={choices}
            error={faultAt(`${path}[${i}]`)}
            onInput={typed => set(names.with(i, others.includes(typed) ? typed : asDottedName(typed, known, false)))}
          />
          <IconButton
            icon="close"
            label={`Remove ${label.toLowerCase()} ${fieldWords(String(name))}`}
            onClick={() => set(names.toSpliced(i, 1))}
          />
        </div>
      ))}
      {faultAt(path) !== undefined && <p class="fault">{faultAt(path)}</p>}
      {names.length < MOST_BY_NAMES && (
        <p class="line">
          <Button
            label={`+ ${label} …`}
            onClick={() => set([...names, offered === undefined ? '' : `args.${offered}`])}
          />
        </p>
      )}
    </>
  )
}

/** Arguments that most ask for, first ones first. */
const OFFERED_NAMES = ['to', 'from', 'owner', 'account', 'recipient', 'sender']
