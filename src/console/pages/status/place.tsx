import type { ComponentChildren } from 'preact'
import { Time } from '../../parts/time.tsx'
import { plain } from '../../parts/visible.ts'
import type { FullNetwork } from './wire.ts'

type Placed = Pick<FullNetwork, 'cluster' | 'shipping' | 'moving'>

/** Where documents lie, and how far they are on their way elsewhere, as names and values. */
export const placeOf = ({ cluster, shipping, moving }: Placed): [string, ComponentChildren][] => {
  const isInCluster = moving ? moving.to === 'sqlite' : cluster !== undefined || shipping !== undefined
  const left = shipping?.blocksLeft ?? 0
  return [
    [
      'Documents',
      isInCluster ? `In the cluster${cluster?.indices ? `: ${plain(cluster.indices)}` : ''}` : 'In the file',
    ],
    ['Cluster', cluster && [cluster.state, cluster.version].filter(text => text !== null).join(', ')],
    ['Moving', moving && `${percentOf(moving)} % ${moving.to === 'sqlite' ? 'back into the file' : 'to the cluster'}`],
    ['Not in the cluster yet', !moving && left > 0 && `${left.toLocaleString()} block${left === 1 ? '' : 's'}`],
  ]
}

/** Moving is one half, comparing the other. */
const percentOf = ({ blocks, shipped, verified }: NonNullable<Placed['moving']>): number =>
  Math.min(100, Math.floor((50 * (shipped + verified)) / Math.max(1, blocks)))

/** Why documents do not move on. */
export const PlaceTrouble = ({ shipping, moving }: Placed) =>
  shipping && shipping.trouble !== null ? (
    <p class="notice">
      Documents do not {moving?.to === 'sqlite' ? 'come back into the file' : 'go to the cluster'}
      {shipping.troubleSince !== null && (
        <>
          {' '}
          since <Time value={shipping.troubleSince} />
        </>
      )}
      : {plain(shipping.trouble)}
    </p>
  ) : null
