import { useState } from 'preact/hooks'
import { type Json, type JsonObject, toJson } from '../../../api/json.ts'
import { Dialog } from '../../../parts/dialog.tsx'
import { SelectField } from '../../../parts/field.tsx'
import { Text } from '../../../parts/text.tsx'
import { differencesOf, mergedOf } from './differences.ts'

interface Props {
  /** What both began with. */
  base: JsonObject
  mine: JsonObject
  theirs: JsonObject
  onClose(): void
  /** The rule as it was chosen, which is not saved yet. */
  onMerged(rule: JsonObject): void
}

const OPTIONS = [
  { value: 'mine', label: 'mine' },
  { value: 'theirs', label: 'what is stored' },
]

/** Somebody else has saved the rule meanwhile: shows where it differs, and lets the user choose. */
export const Conflict = ({ base, mine, theirs, onClose, onMerged }: Props) => {
  const [differences, setDifferences] = useState(() => differencesOf(base, mine, theirs))
  const choose = (at: number, choice: 'mine' | 'theirs') =>
    setDifferences(all => all.map((it, i) => (i === at ? { ...it, choice } : it)))
  return (
    <Dialog title="Somebody else has changed this rule" onClose={onClose}>
      <p>
        Nothing is saved yet.{' '}
        {differences.length === 0
          ? 'What is stored now is the same as yours.'
          : 'Choose what to keep, look at it, and save again.'}
      </p>
      {differences.map((it, i) => (
        <fieldset class="condition" key={it.path}>
          <legend>{it.path}</legend>
          {it.both && <p class="warn">Both have changed it.</p>}
          <dl class="facts">
            <dt>Mine</dt>
            <dd>
              <Shown value={it.mine} />
            </dd>
            <dt>Stored</dt>
            <dd>
              <Shown value={it.theirs} />
            </dd>
            <dt>Before</dt>
            <dd>
              <Shown value={it.base} />
            </dd>
          </dl>
          <SelectField
            label={`Keep for ${it.path}`}
            value={it.choice}
            options={OPTIONS}
            onChange={value => choose(i, value === 'mine' ? 'mine' : 'theirs')}
          />
        </fieldset>
      ))}
      <p class="actions">
        <button type="button" class="main" onClick={() => onMerged(mergedOf(theirs, differences))}>
          Use these
        </button>
      </p>
    </Dialog>
  )
}

const Shown = ({ value }: { value: Json | undefined }) =>
  value === undefined ? <span class="dim">nothing</span> : <Text value={toJson(value)} most={600} />
