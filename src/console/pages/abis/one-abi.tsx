import { ask, messageOf } from '../../api/client.ts'
import { useAsk } from '../../api/use-ask.ts'
import { confirm } from '../../parts/dialog.tsx'
import { Fault } from '../../parts/fault.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Busy } from '../../parts/progress.tsx'
import { Text } from '../../parts/text.tsx'
import { announce } from '../../parts/toast.tsx'
import { plain } from '../../parts/visible.ts'
import { useKey } from '../../shell/keys.ts'
import { For } from './columns.tsx'
import { declarationOf } from './declaration.ts'
import type { Added, WholeAbi } from './wire.ts'

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
