import { textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import { Text } from '../../parts/text.tsx'
import { AddressLink } from './address-link.tsx'
import { Args, Raw } from './args.tsx'
import { listAt, numberAt } from './read.ts'

/** A log, and the event that it was decoded to. */
export interface Emitted {
  place: number
  log: Hit | undefined
  event: Hit | undefined
}

export const emittedOf = (events: readonly Hit[], logs: readonly Hit[]): Emitted[] => {
  const places = new Map<number, Emitted>()
  for (const hit of [...logs, ...events]) {
    const place = numberAt(hit._source, 'logIndex.num') ?? 0
    const before = places.get(place) ?? { place, log: undefined, event: undefined }
    places.set(place, hit._type === 'log' ? { ...before, log: hit } : { ...before, event: hit })
  }
  return [...places.values()].sort((a, b) => a.place - b.place)
}

export const EventsView = ({ network, emitted }: { network: string; emitted: readonly Emitted[] }) => (
  <ol class="steps" aria-label="Events">
    {emitted.map(({ place, log, event }) => (
      <li key={place}>
        <div class="step">
          <code class="dim">{place}</code>{' '}
          <strong>
            {event ? (
              <Text value={textAt(event._source, 'event') ?? '?'} most={80} brief />
            ) : (
              'A log that is not decoded'
            )}
          </strong>{' '}
          <span class="dim">by</span>{' '}
          <AddressLink network={network} value={textAt((event ?? log)!._source, 'address')} />{' '}
          <Certainty event={event} />
        </div>
        {event && <Args network={network} args={listAt(event._source, 'args')} />}
        {log && (
          <details open={!event}>
            <summary>Topics and data</summary>
            <dl class="args">
              {listAt(log._source, 'topics').map((topic, i) => (
                <div key={i}>
                  <dt>Topic {i}</dt>
                  <dd>
                    <Raw hex={String(topic)} />
                  </dd>
                </div>
              ))}
              <div>
                <dt>Data</dt>
                <dd>
                  <Raw hex={textAt(log._source, 'data') ?? '0x'} most={512} />
                </dd>
              </div>
            </dl>
          </details>
        )}
      </li>
    ))}
  </ol>
)

const Certainty = ({ event }: { event: Hit | undefined }) => {
  const error = textAt(event?._source, 'error')
  const probability = numberAt(event?._source, 'probability')
  return (
    <>
      {error !== undefined && (
        <span class="bad">
          <Text value={error} />
        </span>
      )}
      {probability !== undefined && probability < 0.9 && (
        <span class="dim">decoded by a guess, {Math.round(probability * 100)} % sure</span>
      )}
    </>
  )
}
