import { useMemo, useState } from 'preact/hooks'
import type { Kind } from '../../api/wire.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { CheckField, TextField } from '../../parts/field.tsx'
import { WORKED_OUT } from './columns.tsx'
import { type Catalogue, fieldsOf } from './fields.ts'
import { DEFAULT_COLUMNS, setColumns } from './state.ts'

interface Props {
  columns: readonly string[]
  catalogue: Catalogue
  kinds: readonly Kind[]
  onClose(): void
}

/** Which columns the table has; those that are chosen stand first, and can be moved. */
export const Chooser = ({ columns, catalogue, kinds, onClose }: Props) => {
  const [sought, setSought] = useState('')
  const meanings = useMemo(() => {
    const all = new Map<string, string>(Object.entries(WORKED_OUT))
    for (const { shownAs, meaning } of fieldsOf(catalogue, kinds)) if (!all.has(shownAs)) all.set(shownAs, meaning)
    return all
  }, [catalogue, kinds])
  const others = [...meanings.keys()].filter(name => !columns.includes(name))
  const found = others.filter(name =>
    `${name} ${meanings.get(name)}`.toLowerCase().includes(sought.trim().toLowerCase()),
  )
  const move = (name: string, step: number) => {
    const at = columns.indexOf(name)
    const next = columns.filter(it => it !== name)
    next.splice(Math.max(at + step, 0), 0, name)
    setColumns(next)
  }
  return (
    <Dialog title="Columns" onClose={onClose}>
      <ul class="columns">
        {columns.map((name, i) => (
          <li key={name}>
            <CheckField
              label={titleOf(name)}
              checked
              onChange={() => columns.length > 1 && setColumns(columns.filter(it => it !== name))}
            />
            <button
              type="button"
              class="quiet"
              disabled={i === 0}
              aria-label={`Move ${titleOf(name)} left`}
              onClick={() => move(name, -1)}
            >
              ←
            </button>
            <button
              type="button"
              class="quiet"
              disabled={i === columns.length - 1}
              aria-label={`Move ${titleOf(name)} right`}
              onClick={() => move(name, 1)}
            >
              →
            </button>
          </li>
        ))}
      </ul>
      <TextField label="Find a field" value={sought} onInput={setSought} />
      <ul class="columns more" aria-label="Further columns">
        {found.map(name => (
          <li key={name}>
            <CheckField label={titleOf(name)} checked={false} onChange={() => setColumns([...columns, name])} />
            <span class="dim">{name.startsWith('@') ? '' : meanings.get(name)}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p>No further field of these kinds fits.</p>}
      <p class="actions">
        <button type="button" onClick={() => setColumns(DEFAULT_COLUMNS.split(','))}>
          Show the usual columns
        </button>
      </p>
    </Dialog>
  )
}

const titleOf = (name: string) => WORKED_OUT[name] ?? name
