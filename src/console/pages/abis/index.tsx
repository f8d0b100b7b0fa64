import { useEffect, useRef, useState } from 'preact/hooks'
import { useAsk, useLive } from '../../api/ask.ts'
import { ask, messageOf } from '../../api/client.ts'
import { at, type Json, member, textAt } from '../../api/json.ts'
import { Busy, Empty, Fault, NeedsScope, Progress } from '../../parts/answer.tsx'
import { announce, confirm, Field } from '../../parts/controls.tsx'
import { plain } from '../../parts/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Hash, Text, Time } from '../../parts/text.tsx'
import type { PageProps } from '../../routes.ts'
import { useKey } from '../../shell/keys.ts'
import { navigate } from '../../shell/router.tsx'
import { Upload } from './upload.tsx'
import type { Abi, Added, Redecoding, WholeAbi } from './wire.ts'

/** The ABIs that were added to the server. */
const Abis = ({ parameters }: PageProps) => (
  <div class="abis">
    <h1>ABIs</h1>
    <NeedsScope scope="admin" to="see, add and remove ABIs">
      <Content open={parameters.get('id')} />
    </NeedsScope>
  </div>
)

export default Abis

const Content = ({ open }: { open: string | undefined }) => {
  const { data, error, again } = useAsk('abis', signal => ask<{ abis: Abi[] }>('abis', { signal }))
  const [wanted, setWanted] = useState('')
  const [round, setRound] = useState(0)
  const decodeAgain = () => setRound(count => count + 1)
  const abis = data?.abis ?? []
  const found = abis.filter(abi => fits(abi, wanted))
  return (
    <>
      <Upload
        onAdded={() => {
          again()
          decodeAgain()
        }}
      />
      <Redecodings round={round} />
      {error !== undefined && <Fault title="The ABIs cannot be read" error={error} again={again} />}
      {!data && error === undefined && <Busy label="Reading the ABIs" />}
      {data && abis.length === 0 && (
        <Empty title="No ABI was added yet">
          <p>
            Events and calls are decoded by the bundled registry of signatures. Add the ABIs of your contracts, and
            their arguments get names, and their errors are explained.
          </p>
        </Empty>
      )}
      {abis.length > 0 && (
        <>
          <div class="filters">
            <Field label="Find an ABI">
              {field => (
                <input
                  {...field}
                  type="search"
                  data-search
                  spellcheck={false}
                  placeholder="Name, address, code hash or network"
                  value={wanted}
                  onInput={event => setWanted(event.currentTarget.value)}
                />
              )}
            </Field>
            <p class="dim" role="status">
              {found.length.toLocaleString()} of {abis.length.toLocaleString()}
            </p>
          </div>
          <div class="found">
            <Table
              label="ABIs"
              columns={COLUMNS}
              rows={found}
              keyOf={({ id }) => id}
              open={open}
              onOpen={({ id }) => navigate(`/abis/${id}`, { replace: open !== undefined })}
            />
            {open !== undefined && (
              <OneAbi
                key={open}
                id={open}
                onClose={() => navigate('/abis')}
                onRemoved={() => {
                  navigate('/abis', { replace: true })
                  again()
                }}
                onDecode={decodeAgain}
              />
            )}
          </div>
        </>
      )}
    </>
  )
}

const fits = ({ id, name, network, address, codeHash }: Abi, wanted: string): boolean => {
  const text = wanted.trim().toLowerCase()
  return [id, name, network, address, codeHash].some(it => it?.toLowerCase().includes(text))
}

export const COLUMNS: readonly Column<Abi>[] = [
  {
    name: 'name',
    title: 'Name',
    width: 'minmax(12ch, 2fr)',
    cell: ({ name }) => <Text value={name ?? 'unnamed'} brief />,
  },
  { name: 'for', title: 'For', width: 'minmax(16ch, 1fr)', cell: abi => <For abi={abi} /> },
  { name: 'network', title: 'Network', width: 'minmax(16ch, 1fr)', cell: ({ network }) => network ?? 'all networks' },
  { name: 'events', title: 'Events', width: '8ch', align: 'right', cell: ({ events }) => events?.toLocaleString() },
  {
    name: 'functions',
    title: 'Functions',
    width: '9ch',
    align: 'right',
    cell: ({ functions }) => functions?.toLocaleString(),
  },
  { name: 'errors', title: 'Errors', width: '8ch', align: 'right', cell: ({ errors }) => errors?.toLocaleString() },
  { name: 'added', title: 'Added', width: '20ch', cell: ({ addedAt }) => <Time value={addedAt} brief /> },
]

/** Which contracts it decodes. */
export const For = ({ abi: { address, codeHash, network } }: { abi: Abi }) => {
  if (address !== null) return <Hash value={address} kind="address" {...(network !== null && { network })} />
  if (codeHash !== null)
    return (
      <>
        code <Hash value={codeHash} />
      </>
    )
  return <>any contract that it fits</>
}

interface Props {
  id: string
  onClose(): void
  onRemoved(): void
  /** Stored blocks are decoded again. */
  onDecode(): void
}

/** One ABI with what it declares. */
export const OneAbi = ({ id, onClose, onRemoved, onDecode }: Props) => {
  const { data, error, again } = useAsk(id, signal => ask<WholeAbi>(`abis/${encodeURIComponent(id)}`, { signal }))
  useKey('Escape', 'Closes the ABI', onClose)
  return (
    <aside class="opened" aria-label="The open ABI">
      <header>
        <h2>
          <Text value={data?.name ?? id} most={60} brief />
        </h2>
        <button type="button" class="quiet" onClick={onClose}>
          Close
        </button>
      </header>
      {error !== undefined && <Fault error={error} again={again} />}
      {!data && error === undefined && <Busy label="Reading the ABI" />}
      {data && (
        <>
          <p>
            For <For abi={data} />, on {data.network ?? 'all networks'}.
          </p>
          <p class="actions">
            <button type="button" onClick={() => void decodeAgain(id).then(done => done && onDecode())}>
              Decode stored blocks again
            </button>{' '}
            <button type="button" onClick={() => void remove(data).then(done => done && onRemoved())}>
              Remove
            </button>
          </p>
          <ul class="declarations">
            {data.abi.slice(0, LISTED).map((entry, i) => (
              <li key={i}>
                <code>
                  <Text value={declarationOf(entry)} most={300} />
                </code>
              </li>
            ))}
          </ul>
          {data.abi.length > LISTED && (
            <p class="dim">{(data.abi.length - LISTED).toLocaleString()} more in the JSON below.</p>
          )}
          <details>
            <summary>JSON</summary>
            <JsonView value={data.abi} label="The ABI" />
          </details>
        </>
      )}
    </aside>
  )
}

const LISTED = 500

const remove = async ({ id, name }: WholeAbi): Promise<boolean> => {
  const isSure = await confirm({
    title: 'Remove the ABI?',
    text: `${plain(name ?? id)} will decode no further blocks. What it has decoded stays decoded.`,
    action: 'Remove the ABI',
  })
  if (!isSure) return false
  return attempt(async () => {
    await ask(`abis/${id}`, { method: 'DELETE' })
    announce('The ABI is removed.')
  })
}

const decodeAgain = (id: string): Promise<boolean> =>
  attempt(async () => {
    const { redecodings } = await ask<Pick<Added, 'redecodings'>>('redecodings', { body: { abis: [id] } })
    announce(
      redecodings.length === 0
        ? 'There is no network with blocks that the ABI is for.'
        : `Stored blocks of ${redecodings.map(({ network }) => network).join(', ')} will be decoded again.`,
    )
  })

export const attempt = async (what: () => Promise<void>): Promise<boolean> => {
  try {
    await what()
    return true
  } catch (error) {
    announce(messageOf(error), 'error')
    return false
  }
}

const [BUSY_MS, IDLE_MS] = [700, 10_000]

/** How far decoding stored blocks again is; with another `round` it asks at once. */
export const Redecodings = ({ round }: { round: number }) => {
  const { data, error, again } = useLive(
    `redecodings ${round}`,
    signal => ask<{ redecodings: Redecoding[] }>('redecodings', { signal }),
    ({ redecodings }) => (redecodings.length > 0 ? BUSY_MS : IDLE_MS),
  )
  const most = useRef(new Map<string, number>())
  const seen = useRef(new Map<string, Redecoding>())
  const redecodings = data?.redecodings ?? []
  for (const { id, blocksLeft } of redecodings)
    if (blocksLeft !== null) most.current.set(id, Math.max(blocksLeft, most.current.get(id) ?? 0))

  useEffect(() => {
    if (!data) return
    for (const [id, { network, name, abi, state }] of seen.current)
      if (!redecodings.some(it => it.id === id)) {
        const what = `Decoding ${network} again by ${plain(name ?? abi)}`
        announce(state === 'stopping' ? `${what} is stopped.` : `${what} is done.`)
      }
    seen.current = new Map(redecodings.map(it => [it.id, it]))
  }, [data])

  if (error !== undefined) return <Fault title="What is decoded again cannot be read" error={error} again={again} />
  if (redecodings.length === 0) return null
  return (
    <section class="redecodings" aria-label="Decoding again">
      {redecodings.map(it => (
        <div key={it.id}>
          <Running redecoding={it} total={most.current.get(it.id)} />
          <button
            type="button"
            disabled={it.state === 'stopping'}
            aria-label={`Stop decoding ${it.network} again by ${plain(it.name ?? it.abi)}`}
            onClick={() =>
              void attempt(async () => {
                await ask(`redecodings/${it.id}`, { method: 'DELETE' })
                again()
              })
            }
          >
            {it.state === 'stopping' ? 'Stopping' : 'Stop'}
          </button>
        </div>
      ))}
    </section>
  )
}

const Running = ({ redecoding, total }: { redecoding: Redecoding; total: number | undefined }) => {
  const { name, abi, network, blocksLeft, state } = redecoding
  const what = `${plain(name ?? abi)} on ${network}`
  if (state === 'waiting' || blocksLeft === null || total === undefined) return <p>{what} waits for its turn.</p>
  return <Progress label={`Decodes blocks again by ${what}`} done={total - blocksLeft} total={total} />
}

/** An entry of an ABI as Solidity writes it, such as `event Transfer(address indexed from, uint256 value)`. */
export const declarationOf = (entry: Json): string => {
  const kind = textAt(entry, 'type') ?? 'function'
  const name = textAt(entry, 'name') ?? ''
  const mutability = textAt(entry, 'stateMutability')
  const outputs = listOf(at(entry, 'outputs'))
  return [
    `${kind}${name && ` ${name}`}(${parametersOf(at(entry, 'inputs'))})`,
    mutability === undefined || mutability === 'nonpayable' ? '' : mutability,
    member(entry, 'anonymous') === true ? 'anonymous' : '',
    outputs.length > 0 ? `returns (${parametersOf(outputs)})` : '',
  ]
    .filter(Boolean)
    .join(' ')
}

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : [])

const parametersOf = (value: Json | undefined): string =>
  listOf(value)
    .map(it =>
      [typeOf(it), member(it, 'indexed') === true ? 'indexed' : '', textAt(it, 'name') ?? ''].filter(Boolean).join(' '),
    )
    .join(', ')

/** `tuple[]` with its components is `(address, uint256)[]`. */
const typeOf = (parameter: Json): string => {
  const type = textAt(parameter, 'type') ?? ''
  return type.startsWith('tuple') ? `(${parametersOf(at(parameter, 'components'))})${type.slice('tuple'.length)}` : type
}
