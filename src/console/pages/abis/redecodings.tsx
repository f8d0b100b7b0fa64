import { useEffect, useRef } from 'preact/hooks'
import { ask } from '../../api/client.ts'
import { useLive } from '../../api/use-live.ts'
import { Fault } from '../../parts/fault.tsx'
import { Progress } from '../../parts/progress.tsx'
import { announce } from '../../parts/toast.tsx'
import { plain } from '../../parts/visible.ts'
import { attempt } from './one-abi.tsx'
import type { Redecoding } from './wire.ts'

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
