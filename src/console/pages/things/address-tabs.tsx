import { type JsonObject, textAt } from '../../api/json.ts'
import type { Hit } from '../../api/wire.ts'
import type { Column } from '../../parts/table.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { Text } from '../../parts/text.tsx'
import { useQueryState } from '../../shell/router.tsx'
import { AddressLink } from './address-link.tsx'
import { AddressTokens } from './address-tokens.tsx'
import { any, term } from './ask.ts'
import {
  BlockLink,
  CALL_FIELDS,
  callColumns,
  EVENT_FIELDS,
  eventColumns,
  MOVEMENT_FIELDS,
  placeColumns,
  TX_FIELDS,
  txColumns,
} from './columns.tsx'
import { Contract } from './contract.tsx'
import { List } from './list.tsx'
import { movementColumns, movementsOf } from './movements.tsx'
import type { ThingProps } from './page.tsx'
import { numberAt } from './read.ts'

/** How much an address has to do with. */
export interface Counts {
  txs: number
  sent: number
  received: number
  calls: number
  events: number
  movements: number
  created: number
  blocks: number
}

interface Props extends ThingProps {
  contract: Hit | undefined
  /** Undefined until they have come. */
  counts: Counts | undefined
}

const SIDES = [
  { name: '', title: 'In and out', of: (id: string) => any(term('from', id), term('to', id)) },
  { name: 'out', title: 'Out', of: (id: string) => term('from', id) },
  { name: 'in', title: 'In', of: (id: string) => term('to', id) },
]

export const AddressTabs = ({ network, id, contract, counts }: Props) => {
  const [tab, setTab] = useQueryState('tab', 'transactions')
  const told = (title: string, count: number | undefined) =>
    count === undefined ? title : `${title} (${count.toLocaleString()})`
  const tabs = [
    { name: 'transactions', title: told('Transactions', counts?.txs) },
    { name: 'calls', title: told('Calls', counts?.calls) },
    ...(contract ? [{ name: 'events', title: told('Events', counts?.events) }] : []),
    { name: 'movements', title: told('Movements', counts?.movements) },
    { name: 'tokens', title: 'Tokens' },
    ...((counts?.created ?? 0) > 0 ? [{ name: 'created', title: told('Created', counts?.created) }] : []),
    ...((counts?.blocks ?? 0) > 0 ? [{ name: 'blocks', title: told('Blocks', counts?.blocks) }] : []),
    ...(contract ? [{ name: 'contract', title: 'Contract' }] : []),
  ]
  const current = tabs.some(({ name }) => name === tab) ? tab : 'transactions'
  return (
    <Tabs label="Of the address" tabs={tabs} current={current} onChange={name => setTab(name, { replace: true })}>
      {current === 'tokens' && <AddressTokens network={network} id={id} />}
      {current === 'contract' && contract && <Contract network={network} id={id} contract={contract._source} />}
      {current !== 'tokens' && current !== 'contract' && <OneList {...{ network, id, counts }} current={current} />}
    </Tabs>
  )
}

const OneList = ({ network, id, counts, current }: ThingProps & { counts: Counts | undefined; current: string }) => {
  const [sideName, setSide] = useQueryState('side')
  const side = SIDES.find(({ name }) => name === sideName) ?? SIDES[0]!
  const totals: Record<string, number | undefined> = { in: counts?.received, out: counts?.sent }
  const common = { network, none: <p>The blocks that are held show none.</p> }
  const choose = (
    <label class="choose">
      Show{' '}
      <select value={side.name} onChange={event => setSide(event.currentTarget.value, { replace: true })}>
        {SIDES.map(({ name, title }) => (
          <option key={name} value={name}>
            {current === 'transactions' && totals[name] !== undefined ? `${title} (${totals[name]})` : title}
          </option>
        ))}
      </select>
    </label>
  )
  switch (current) {
    case 'calls':
      return (
        <>
          {choose}
          <List
            key={`calls ${side.name}`}
            {...common}
            label="Calls"
            kinds={['call']}
            query={side.of(id)}
            columns={callColumns(network)}
            fields={CALL_FIELDS}
          />
        </>
      )
    case 'events':
      return (
        <List
          key="events"
          {...common}
          label="Events"
          kinds={['event']}
          query={term('address', id)}
          columns={eventColumns(network).filter(({ name }) => name !== 'address')}
          fields={EVENT_FIELDS}
        />
      )
    case 'movements':
      return (
        <List
          key="movements"
          {...common}
          label="Movements"
          kinds={['event']}
          query={movementsOf(id)}
          columns={movementColumns(network, { token: true })}
          fields={MOVEMENT_FIELDS}
        />
      )
    case 'created':
      return (
        <List
          key="created"
          {...common}
          label="Created contracts"
          kinds={['contract']}
          query={any(term('creator', id), term('origin', id))}
          columns={createdColumns(network)}
          fields={['address', 'name', 'standard', 'transactionHash', 'blockNumber', 'timestamp']}
          thingOf={hit => ({ kind: 'address', id: hit._id })}
        />
      )
    case 'blocks':
      return (
        <List
          key="blocks"
          {...common}
          label="Blocks"
          kinds={['block']}
          query={term('miner', id)}
          columns={blockColumns(network)}
          fields={['number', 'timestamp', 'gasUsed']}
          thingOf={hit => ({ kind: 'block', id: hit._id })}
        />
      )
    default:
      return (
        <>
          {choose}
          <List
            key={`transactions ${side.name}`}
            {...common}
            label="Transactions"
            kinds={['tx']}
            query={side.of(id)}
            columns={txColumns(network)}
            fields={TX_FIELDS}
          />
        </>
      )
  }
}

const createdColumns = (network: string): Column<Hit>[] => [
  ...placeColumns(network),
  {
    name: 'address',
    title: 'Contract',
    width: '18ch',
    cell: ({ _source }) => <AddressLink network={network} value={textAt(_source, 'address')} />,
  },
  { name: 'standard', title: 'Standard', cell: ({ _source }) => standardOf(_source) },
]

const standardOf = (source: JsonObject) => <Text value={textAt(source, 'standard') ?? ''} brief />

const blockColumns = (network: string): Column<Hit>[] => [
  ...placeColumns(network).slice(0, 1),
  {
    name: 'number',
    title: 'Block',
    cell: ({ _source }) => <BlockLink network={network} number={numberAt(_source, 'number.num')} />,
  },
]
