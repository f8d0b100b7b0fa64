import type { ComponentChildren } from 'preact'
import { getStatus, search } from '../../api/index.ts'
import { useAsk } from '../../api/use-ask.ts'
import type { Hit, Kind, NetworkStatus } from '../../api/wire.ts'
import { Fault } from '../../parts/fault.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Text } from '../../parts/text.tsx'
import { Link } from '../../shell/router.tsx'
import { hrefOf } from '../../things.ts'
import { Head, type ThingProps } from './page.tsx'
import { isAddress, isHash } from './read.ts'

interface Props extends ThingProps {
  /** Such as `transaction`. */
  what: string
  /** Kinds that were looked through. */
  kinds: readonly Kind[]
  /** What an id has to look like; shown where it does not. */
  form: string
  isFormed: boolean
  children?: ComponentChildren
}

const CAPITAL = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** In place of a thing that is not held: says where it was looked, and what else has this id. */
export const Missing = ({ network, id, what, kinds, form, isFormed, children }: Props) => (
  <>
    <Head
      network={network}
      id={id}
      what={CAPITAL(what)}
      kinds={kinds.join()}
      name={<Text value={id} most={80} brief />}
    />
    <section class="missing" aria-label="Not found">
      <h2>{isFormed ? `This ${what} is not held` : `This does not name a ${what}`}</h2>
      {!isFormed && <p>{form}</p>}
      {isFormed && <Looked network={network} kinds={kinds} />}
      {isFormed && <Elsewhere network={network} id={id} />}
      {children}
    </section>
  </>
)

/** Which kinds and which blocks were looked through. */
export const Looked = ({ network, kinds }: { network: string; kinds: readonly Kind[] }) => {
  const status = useAsk('status', getStatus)
  if (status.error !== undefined && !status.data)
    return <Fault title="The status cannot be read" error={status.error} again={status.again} />
  if (!status.data) return <Busy label="Reading which blocks are held" />
  const held = status.data.networks.find(it => it.network === network)
  if (!held)
    return (
      <p>
        This server has no network {network}. It has {status.data.networks.map(it => it.network).join(', ') || 'none'}.
      </p>
    )
  return (
    <>
      <p>
        Looked in {kinds.join(' and ')} documents of {network}, {rangesOf(held)}.
      </p>
      {held.head !== null && held.head !== undefined && <p>The newest block of the chain is {count(held.head)}.</p>}
      {held.ranges.length > 1 && <p>Between these ranges are gaps: what is in a gap is not found.</p>}
      <p>What is not mined yet, or stands in a block outside of these, is not found here.</p>
    </>
  )
}

const count = (value: number) => value.toLocaleString()
const MOST_RANGES = 8

const rangesOf = ({ ranges }: NetworkStatus): string => {
  if (ranges.length === 0) return 'which holds no blocks yet'
  const shown = ranges
    .slice(-MOST_RANGES)
    .map(({ from, to }) => (from === to ? count(from) : `${count(from)} to ${count(to)}`))
  const more = ranges.length - shown.length
  return `blocks ${shown.join(', ')}${more > 0 ? ` and ${count(more)} ranges below` : ''}`
}

/** Other networks that are asked, at most. */
const MOST_NETWORKS = 10

/** Things of another kind or network that have this id. */
const Elsewhere = ({ network, id }: ThingProps) => {
  const kinds: Kind[] | undefined = isHash(id) ? ['block', 'tx'] : isAddress(id) ? ['contract', 'token'] : undefined
  const found = useAsk(kinds && `elsewhere ${network} ${id}`, async signal => {
    const { networks } = await getStatus(signal)
    const names = networks.map(it => it.network).filter(name => name !== network)
    const query = { ids: { values: [id] } }
    const look = (name: string) =>
      search(name, kinds!, { query, _source: false, size: 4 }, signal).then(
        ({ hits }) => hits.hits.map(hit => ({ name, hit })),
        () => [],
      )
    return (await Promise.all([network, ...names.slice(0, MOST_NETWORKS)].map(look))).flat()
  })
  if (!found.data || found.data.length === 0) return null
  return (
    <ul>
      {found.data.map(({ name, hit }) => (
        <Other key={`${name} ${hit._type}`} network={name} hit={hit} />
      ))}
    </ul>
  )
}

const KIND_NAMES: Record<string, string> = {
  block: 'a block',
  tx: 'a transaction',
  contract: 'a contract',
  token: 'a token',
}

const Other = ({ network, hit: { _type, _id } }: { network: string; hit: Hit }) => {
  const href = hrefOf(network, _type === 'contract' ? 'address' : _type, _id)
  return (
    <li>
      It is the id of {href ? <Link to={href}>{KIND_NAMES[_type] ?? _type}</Link> : _type} of {network}.
    </li>
  )
}
