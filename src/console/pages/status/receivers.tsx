import { useLive } from '../../api/ask.ts'
import type { Destination, DestinationsAnswer } from '../../api/wire.ts'
import { setQuery, useQueryState } from '../../browser/router.tsx'
import { Await, Empty } from '../../parts/answer.tsx'
import { Button } from '../../parts/controls.tsx'
import { countText, visibleText } from '../../parts/format.ts'
import { type Column, PlainTable } from '../../parts/table.tsx'
import { say, Text, Time } from '../../parts/text.tsx'
import { confirmRedelivery } from '../rules/api.ts'
import { Deliveries } from '../rules/deliveries.tsx'

const RECEIVERS_REFRESH_MS = 5_000

/** Waiting deliveries by receiver. */
export const ReceiversTab = () => {
  const asked = useLive<DestinationsAnswer>('alerting/destinations', RECEIVERS_REFRESH_MS)
  return (
    <Await asked={asked} failed="The receivers cannot be read" busy="Reading the receivers" quiet>
      {({ complete, destinations }) => (
        <div class="receivers">
          <h2>Receivers</h2>
          {!complete && (
            <p class="notice">
              There are too many deliveries to count all of them: the numbers are those of the first 20,000.
            </p>
          )}
          {destinations.length === 0 ? (
            <Empty title="Nothing waits, and nothing failed">
              <p>A receiver is listed here while deliveries to it wait, or failed for good.</p>
            </Empty>
          ) : (
            <PlainTable
              label="Receivers"
              columns={receivers(asked.again)}
              rows={destinations}
              keyOf={({ channel, target }) => `${channel} ${target}`}
            />
          )}
          <DeliveryList />
        </div>
      )}
    </Await>
  )
}

const receivers = (again: () => void): Column<Destination>[] => [
  {
    title: 'Receiver',
    cell: ({ channel, target }) => say`${channel} ${<Text value={target} most={80} brief />}`,
  },
  {
    title: 'State',
    cell: ({ failing }) =>
      failing === null ? (
        <span class="good">takes messages</span>
      ) : (
        <span class="bad">
          failing since <Time value={failing.since} />: {failing.status} <Text value={failing.error} most={200} brief />
        </span>
      ),
  },
  ...(['waiting', 'retried', 'dead'] as const).map(
    (state): Column<Destination> => ({
      title: state[0]!.toUpperCase() + state.slice(1),
      align: 'right',
      cell: it => <Count of={it} state={state} />,
    }),
  ),
  {
    title: 'Next try',
    cell: ({ nextAt, waiting, retried }) => nextAt !== null && waiting + retried > 0 && <Time value={nextAt} due />,
  },
  {
    title: 'What to do',
    cell: it => it.dead > 0 && <Button label="Send dead again" onClick={() => sendDeadAgain(it).then(again)} />,
  },
]

const Count = ({ of, state }: { of: Destination; state: 'waiting' | 'retried' | 'dead' }) =>
  of[state] === 0 ? (
    <>0</>
  ) : (
    <Button
      class="link"
      label={of[state].toLocaleString()}
      name={`${of[state]} ${state}: show them`}
      onClick={() => setQuery({ channel: of.channel, target: of.target, state })}
    />
  )

/** Newest deliveries of one receiver or of all. */
const DeliveryList = () => {
  const [channel] = useQueryState('channel')
  const [target] = useQueryState('target')
  return (
    <>
      <h2>Deliveries</h2>
      <Deliveries of={{ channel, target }}>
        {again => (
          <>
            {target !== '' && (
              <p>
                To {channel} <Text value={target} most={80} brief />{' '}
                <Button class="link" label="Show all receivers" onClick={() => setQuery({ channel: '', target: '' })} />
              </p>
            )}
            <Button label="Refresh" onClick={again} />
          </>
        )}
      </Deliveries>
    </>
  )
}

const sendDeadAgain = ({ channel, target, dead }: Destination) => {
  const text = `${visibleText(target)} will get ${countText(dead, 'message')}. This cannot be undone.`
  return confirmRedelivery(
    { channel, target, dead: true },
    { title: 'Send dead deliveries again?', text, action: 'Send again' },
  )
}
