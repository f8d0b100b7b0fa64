import { useEffect, useRef, useState } from 'preact/hooks'
import { useGet, useLive } from '../../api/ask.ts'
import { callApi } from '../../api/client.ts'
import { type Json, listAt, member, textAt } from '../../api/json.ts'
import type { AbiAnswer, RedecodingAnswer, WholeAbi } from '../../api/wire.ts'
import { navigate } from '../../browser/router.tsx'
import { announce, announced } from '../../parts/announce.ts'
import { Await, Empty, Fault, NeedsScope, Progress } from '../../parts/answer.tsx'
import { Aside, Button, confirm, TextField } from '../../parts/controls.tsx'
import { visibleText } from '../../parts/format.ts'
import { JsonView } from '../../parts/json-view.tsx'
import { type Column, VirtualTable } from '../../parts/table.tsx'
import { Hash, PageHead, say, Text, Time } from '../../parts/text.tsx'
import type { PageProps } from '../../routes.ts'
import { Upload } from './upload.tsx'

export default ({ parameters }: PageProps) => (
  <div class="abis">
    <PageHead title="ABIs" />
    <NeedsScope scope="admin" to="see, add and remove ABIs">
      <Content open={parameters.get('id')} />
    </NeedsScope>
  </div>
)

const Content = ({ open }: { open: string | undefined }) => {
  const asked = useGet<{ abis: AbiAnswer[] }>('abis')
  const [wanted, setWanted] = useState('')
  const [round, setRound] = useState(0)
  const decodeAgain = () => setRound(count => count + 1)
  const added = () => {
    asked.again()
    decodeAgain()
  }
  const removed = () => {
    navigate('/abis', { replace: true })
    asked.again()
  }
  return (
    <>
      <Upload onAdded={added} />
      <Redecodings round={round} />
      <Await asked={asked} failed="The ABIs cannot be read" busy="Reading the ABIs">
        {({ abis }) => {
          const found = abis.filter(abi => fits(abi, wanted))
          if (abis.length === 0)
            return (
              <Empty title="No ABI was added yet">
                <p>
                  Events and calls are decoded by the bundled registry of signatures. Add the ABIs of your contracts,
                  and their arguments get names, and their errors are explained.
                </p>
              </Empty>
            )
          return (
            <>
              <div class="filters">
                <TextField
                  type="search"
                  label="Find an ABI"
                  placeholder="Name, address, code hash or network"
                  value={wanted}
                  onInput={setWanted}
                />
                <p class="dim" role="status">
                  {found.length.toLocaleString()} of {abis.length.toLocaleString()}
                </p>
              </div>
              <div class="found">
                <VirtualTable
                  label="ABIs"
                  columns={COLUMNS}
                  rows={found}
                  keyOf={({ id }) => id}
                  open={open}
                  onOpen={({ id }) => navigate(`/abis/${id}`, { replace: open !== undefined })}
                />
                {open !== undefined && <OneAbi key={open} id={open} onRemoved={removed} onDecode={decodeAgain} />}
              </div>
            </>
          )
        }}
      </Await>
    </>
  )
}

const fits = ({ id, name, network, address, codeHash }: AbiAnswer, wanted: string): boolean => {
  const text = wanted.trim().toLowerCase()
  return [id, name, network, address, codeHash].some(it => it?.toLowerCase().includes(text))
}

const COLUMNS: readonly Column<AbiAnswer>[] = [
  { title: 'Name', width: 'minmax(12ch, 2fr)', cell: ({ name }) => <Text value={name ?? 'unnamed'} brief /> },
  { title: 'For', width: 'minmax(16ch, 1fr)', cell: abi => <For abi={abi} /> },
  { title: 'Network', width: 'minmax(16ch, 1fr)', cell: ({ network }) => network ?? 'all networks' },
  { title: 'Events', width: '8ch', align: 'right', cell: ({ events }) => events?.toLocaleString() },
  { title: 'Functions', width: '9ch', align: 'right', cell: ({ functions }) => functions?.toLocaleString() },
  { title: 'Errors', width: '8ch', align: 'right', cell: ({ errors }) => errors?.toLocaleString() },
  { title: 'Added', width: '20ch', cell: ({ addedAt }) => <Time value={addedAt} brief /> },
]

/** Contracts that it decodes. */
const For = ({ abi: { address, codeHash, network } }: { abi: AbiAnswer }) => {
  if (address !== null) return <Hash value={address} kind="address" network={network} />
  if (codeHash === null) return 'any contract that it fits'
  return say`code ${<Hash value={codeHash} />}`
}

interface OneProps {
  id: string
  onRemoved(): void
  onDecode(): void
}

const LISTED = 500

const OneAbi = ({ id, onRemoved, onDecode }: OneProps) => {
  const asked = useGet<WholeAbi>(`abis/${encodeURIComponent(id)}`)
  const title = <Text value={asked.data?.name ?? id} most={60} brief />
  return (
    <Aside what="ABI" title={title} onClose={() => navigate('/abis')}>
      <Await asked={asked} busy="Reading the ABI">
        {data => (
          <>
            <p>{say`For ${<For abi={data} />}, on ${data.network ?? 'all networks'}.`}</p>
            <p class="actions">
              <Button
                label="Decode stored blocks again"
                onClick={() => decodeAgain(id).then(done => done && onDecode())}
              />{' '}
              <Button label="Remove" onClick={() => remove(data).then(done => done && onRemoved())} />
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
      </Await>
    </Aside>
  )
}

const remove = async ({ id, name }: WholeAbi): Promise<boolean> => {
  const text = `${visibleText(name ?? id)} will decode no further blocks. What it has decoded stays decoded.`
  if (!(await confirm({ title: 'Remove the ABI?', text, action: 'Remove the ABI' }))) return false
  return announced(async () => {
    await callApi(`abis/${id}`, { method: 'DELETE' })
    announce('The ABI is removed.')
  })
}

const decodeAgain = (id: string): Promise<boolean> =>
  announced(async () => {
    const { redecodings } = await callApi<{ redecodings: RedecodingAnswer[] }>('redecodings', { body: { abis: [id] } })
    announce(
      redecodings.length === 0
        ? 'There is no network with blocks that the ABI is for.'
        : `Stored blocks of ${redecodings.map(({ network }) => network).join(', ')} will be decoded again.`,
    )
  })

const [BUSY_MS, IDLE_MS] = [700, 10_000]

/** Progress of decoding stored blocks again; another `round` polls at once. */
const Redecodings = ({ round }: { round: number }) => {
  const { data, error, again } = useLive<{ redecodings: RedecodingAnswer[] }>('redecodings', ({ redecodings }) =>
    redecodings.length > 0 ? BUSY_MS : IDLE_MS,
  )
  useEffect(() => {
    if (round > 0) again()
  }, [round])
  const most = useRef(new Map<string, number>())
  const seen = useRef(new Map<string, RedecodingAnswer>())
  const redecodings = data?.redecodings ?? []
  for (const { id, blocksLeft } of redecodings)
    if (blocksLeft !== null) most.current.set(id, Math.max(blocksLeft, most.current.get(id) ?? 0))

  useEffect(() => {
    if (!data) return
    for (const [id, it] of seen.current)
      if (!redecodings.some(it => it.id === id)) {
        const what = `Decoding ${it.network} again by ${visibleText(it.name ?? it.abi)}`
        announce(it.state === 'stopping' ? `${what} is stopped.` : `${what} is done.`)
      }
    seen.current = new Map(redecodings.map(it => [it.id, it]))
  }, [data])

  if (error !== undefined) return <Fault title="What is decoded again cannot be read" error={error} again={again} />
  if (redecodings.length === 0) return null
  const stop = (id: string) =>
    announced(async () => {
      await callApi(`redecodings/${id}`, { method: 'DELETE' })
      again()
    })
  return (
    <section class="redecodings" aria-label="Decoding again">
      {redecodings.map(it => (
        <div key={it.id}>
          <Running redecoding={it} total={most.current.get(it.id)} />
          <Button
            label={it.state === 'stopping' ? 'Stopping' : 'Stop'}
            name={`Stop decoding ${it.network} again by ${visibleText(it.name ?? it.abi)}`}
            disabled={it.state === 'stopping'}
            onClick={() => stop(it.id)}
          />
        </div>
      ))}
    </section>
  )
}

const Running = ({ redecoding, total }: { redecoding: RedecodingAnswer; total: number | undefined }) => {
  const { name, abi, network, blocksLeft, state } = redecoding
  const what = `${visibleText(name ?? abi)} on ${network}`
  if (state === 'waiting' || blocksLeft === null || total === undefined) return <p>{what} waits for its turn.</p>
  return <Progress label={`Decodes blocks again by ${what}`} done={total - blocksLeft} total={total} />
}

/** ABI entry in Solidity, such as `event Transfer(address indexed from, uint256 value)`. */
const declarationOf = (entry: Json): string => {
  const [kind, name, mutability] = ['type', 'name', 'stateMutability'].map(it => textAt(entry, it))
  const outputs = listAt(entry, 'outputs')
  return wordsOf(
    `${kind ?? 'function'}${name ? ` ${name}` : ''}(${parametersOf(listAt(entry, 'inputs'))})`,
    mutability !== 'nonpayable' && mutability,
    member(entry, 'anonymous') === true && 'anonymous',
    outputs.length > 0 && `returns (${parametersOf(outputs)})`,
  )
}

const wordsOf = (...words: (string | false | undefined)[]): string => words.filter(Boolean).join(' ')

const parametersOf = (list: readonly Json[]): string =>
  list.map(it => wordsOf(typeOf(it), member(it, 'indexed') === true && 'indexed', textAt(it, 'name'))).join(', ')

/** `tuple[]` with its components is `(address, uint256)[]`. */
const typeOf = (parameter: Json): string => {
  const type = textAt(parameter, 'type') ?? ''
  return type.startsWith('tuple')
    ? `(${parametersOf(listAt(parameter, 'components'))})${type.slice('tuple'.length)}`
    : type
}
