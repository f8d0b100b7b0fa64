import { search } from '../../../api/index.ts'
import { type Json, type JsonObject, member, toJson } from '../../../api/json.ts'
import { useAsk } from '../../../api/use-ask.ts'
import type { Hit } from '../../../api/wire.ts'
import { Fault } from '../../../parts/fault.tsx'
import { Busy } from '../../../parts/progress.tsx'
import { Text } from '../../../parts/text.tsx'
import { plain } from '../../../parts/visible.ts'
import { kindOf, put, targetOf } from '../model.ts'
import { networkOf } from '../wire.ts'
import { keyOf, MOST_LEVELS, membersFor, payloadOf, toggle, type Way, waysOf } from './payload.ts'

interface Props {
  draft: JsonObject
  action: Json
  /** The newest document that the rule would have found. */
  example: Hit | undefined
  label: string
  onChange(action: Json): void
}

/** Chooses what is sent by ticking fields of a real document. */
export const PayloadPicker = ({ draft, action, example, label, onChange }: Props) => {
  const network = networkOf(draft)
  const kind = kindOf(targetOf(draft)) ?? 'tx'
  const isFitting = example?._type === kind
  const newest = useAsk(isFitting ? undefined : `newest ${network} ${kind}`, signal =>
    search(network, [kind], { size: 1, sort: [{ _shard_doc: 'desc' }] }, signal),
  )
  const hit = isFitting ? example : newest.data?.hits.hits[0]
  const ways = waysOf(member(action, 'payload'))
  const set = (next: readonly Way[]) =>
    onChange(put(action, 'payload', next.length === 0 ? undefined : payloadOf(next)))

  if (newest.error !== undefined && !isFitting) return <Fault error={newest.error} again={newest.again} />
  if (!hit) return newest.busy ? <Busy label="Reading a document" /> : <p>No document is stored yet.</p>
  return (
    <fieldset class="payload">
      <legend>{label}</legend>
      <p class="dim">
        {isFitting ? 'Of the newest document that the rule would have found.' : 'Of the newest document of this kind.'}{' '}
        {ways.length === 0 ? 'Nothing is chosen: the whole document is sent.' : `${ways.length} chosen.`}
      </p>
      <Members
        value={hit._source}
        way={[]}
        chosen={new Set(ways.map(keyOf))}
        onToggle={(way, on) => set(toggle(ways, way, on))}
      />
      <Lost ways={ways} source={hit._source} onToggle={way => set(toggle(ways, way, false))} />
    </fieldset>
  )
}

interface TreeProps {
  value: Json
  way: Way
  chosen: ReadonlySet<string>
  onToggle(way: Way, chosen: boolean): void
}

const Members = ({ value, way, chosen, onToggle }: TreeProps) => (
  <ul>
    {membersFor(value).map(([name, inner]) => {
      const own = [...way, name]
      const isChosen = chosen.has(keyOf(own))
      const isOpen = !isChosen && own.length < MOST_LEVELS && membersFor(inner).length > 0
      return (
        <li key={name}>
          <label class="check">
            <input
              type="checkbox"
              aria-label={plain(own.join('.')).slice(0, 200)}
              checked={isChosen}
              onChange={event => onToggle(own, event.currentTarget.checked)}
            />
            <Text value={name} most={60} brief />
            {!isOpen && (
              <span class="dim">
                <Text value={typeof inner === 'string' ? inner : toJson(inner)} most={60} brief />
              </span>
            )}
          </label>
          {isOpen && <Members value={inner} way={own} chosen={chosen} onToggle={onToggle} />}
        </li>
      )
    })}
  </ul>
)

/** Fields that are chosen, and which this document does not have. */
const Lost = ({ ways, source, onToggle }: { ways: readonly Way[]; source: Json; onToggle(way: Way): void }) => {
  const lost = ways.filter(way => !isIn(source, way))
  if (lost.length === 0) return null
  return (
    <>
      <p>Also chosen, and not in this document:</p>
      <ul>
        {lost.map(way => (
          <li key={keyOf(way)}>
            <label class="check">
              <input type="checkbox" checked onChange={() => onToggle(way)} />
              <Text value={way.join('.')} most={100} brief />
            </label>
          </li>
        ))}
      </ul>
    </>
  )
}

const isIn = (value: Json, [name, ...rest]: Way): boolean => {
  if (name === undefined) return true
  const found = membersFor(value).find(([own]) => own === name)
  return found !== undefined && isIn(found[1], rest)
}
