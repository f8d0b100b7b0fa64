import { useEffect, useState } from 'preact/hooks'
import { ask } from '../../api/client.ts'
import { useAsk } from '../../api/use-ask.ts'
import { Fault } from '../../parts/fault.tsx'
import { SelectField } from '../../parts/field.tsx'
import { PlainTable } from '../../parts/plain-table.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Text } from '../../parts/text.tsx'
import { Time } from '../../parts/time.tsx'
import { setQuery, useQueryState } from '../../shell/router.tsx'
import { Attempts } from './attempts.tsx'
import type { Delivery } from './wire.ts'

const SIZE = 50
const STATES = [
  { value: '', label: 'all' },
  { value: 'waiting', label: 'waiting' },
  { value: 'retried', label: 'failed, will be tried again' },
  { value: 'dead', label: 'dead' },
  { value: 'delivered', label: 'delivered' },
  { value: 'cancelled', label: 'cancelled' },
]

interface Page {
  deliveries: Delivery[]
  next: string | null
}

/** The newest deliveries of the account, of one receiver or of all. */
export const DeliveryList = () => {
  const [state, setState] = useQueryState('state')
  const [channel] = useQueryState('channel')
  const [target] = useQueryState('target')
  const [opened, setOpened] = useState<number>()
  const where = new URLSearchParams({ size: String(SIZE) })
  for (const [name, value] of Object.entries({ state, channel, target })) if (value) where.set(name, value)
  const key = where.toString()

  const [before, setBefore] = useState<{ key: string; cursor: string }>()
  const [shown, setShown] = useState<{ key: string; deliveries: Delivery[]; next: string | null }>()
  const cursor = before?.key === key ? before.cursor : undefined
  const page = useAsk(`${key} ${cursor ?? ''}`, async signal => {
    const path = `alerting/deliveries?${key}${cursor === undefined ? '' : `&before=${encodeURIComponent(cursor)}`}`
    return { key, cursor, ...(await ask<Page>(path, { signal })) }
  })
  useEffect(() => {
    const { data } = page
    if (data?.key !== key || data.cursor !== cursor) return
    const earlier = cursor === undefined || shown?.key !== key ? [] : shown.deliveries
    setShown({ key, deliveries: [...earlier, ...data.deliveries], next: data.next })
  }, [page.data])

  const list = shown?.key === key ? shown : undefined
  return (
    <>
      <h2>Deliveries</h2>
      <div class="filters">
        <SelectField label="State" value={state} options={STATES} onChange={value => setState(value)} />
        {target !== '' && (
          <p>
            To {channel} <Text value={target} most={80} brief />{' '}
            <button type="button" class="link" onClick={() => setQuery({ channel: '', target: '' })}>
              Show all receivers
            </button>
          </p>
        )}
        <p>
          <button type="button" onClick={() => (cursor === undefined ? page.again() : setBefore(undefined))}>
            Read again
          </button>
        </p>
      </div>
      {page.error !== undefined && (
        <Fault title="The deliveries cannot be read" error={page.error} again={page.again} />
      )}
      {list && list.deliveries.length === 0 && list.next === null && <p>There are no such deliveries.</p>}
      {list && list.deliveries.length > 0 && (
        <PlainTable label="Deliveries" columns={columnsFor(setOpened)} rows={list.deliveries} keyOf={({ id }) => id} />
      )}
      {page.busy && <Busy label="Reading deliveries" />}
      {!page.busy && list && list.next !== null && (
        <button type="button" onClick={() => setBefore({ key, cursor: list.next! })}>
          Show older ones
        </button>
      )}
      {opened !== undefined && (
        <Attempts
          id={opened}
          onClose={() => {
            setOpened(undefined)
            page.again()
          }}
        />
      )}
    </>
  )
}

const CLASSES: ReadonlyMap<string, string> = new Map([
  ['delivered', 'good'],
  ['dead', 'bad'],
])

const columnsFor = (open: (id: number) => void) =>
  [
    { title: 'Created', cell: ({ createdAt }: Delivery) => <Time value={createdAt} /> },
    {
      title: 'Receiver',
      cell: ({ channel, target }: Delivery) => (
        <>
          {channel} <Text value={target} most={60} brief />
        </>
      ),
    },
    { title: 'Rule', align: 'right', cell: ({ rule }: Delivery) => rule },
    { title: 'Message', cell: ({ type }: Delivery) => type },
    {
      title: 'State',
      cell: ({ state, tries }: Delivery) => (
        <span class={CLASSES.get(state)}>
          {state === 'queued' && tries > 0 ? `failed ${tries === 1 ? 'once' : `${tries} times`}` : state}
        </span>
      ),
    },
    {
      title: 'Last answer',
      cell: ({ lastStatus, lastError }: Delivery) => (
        <>
          {lastStatus} {lastError !== null && <Text value={lastError} most={120} brief />}
        </>
      ),
    },
    {
      title: 'What to do',
      cell: ({ id }: Delivery) => (
        <button type="button" aria-label={`Show the attempts of delivery ${id}`} onClick={() => open(id)}>
          Attempts
        </button>
      ),
    },
  ] as const
