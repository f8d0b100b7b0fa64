import {
  Activity,
  Bell,
  Blocks,
  Bookmark,
  Box,
  Check,
  ChevronDown,
  CircleUserRound,
  Clock,
  Coins,
  Columns3,
  Copy,
  Download,
  FileCode,
  Fuel,
  type IconNode,
  ListFilter,
  Monitor,
  Moon,
  MoreHorizontal,
  Radio,
  ReceiptText,
  Search,
  SquareFunction,
  Sun,
  X,
  Zap,
} from 'lucide'
import { h } from 'preact'

/** Lucide's icons; the bundle has these alone. */
const ICONS = {
  ...{ account: CircleUserRound, search: Search, more: MoreHorizontal, down: ChevronDown, check: Check, close: X },
  ...{ light: Sun, dark: Moon, system: Monitor, copy: Copy, download: Download },
  ...{ columns: Columns3, saved: Bookmark, time: Clock, filter: ListFilter, follow: Radio },
  ...{ explore: Search, rules: Bell, gas: Fuel, status: Activity, abis: FileCode },
  ...{ block: Blocks, tx: ReceiptText, address: Box, contract: FileCode, token: Coins, event: Zap },
  method: SquareFunction,
} satisfies Record<string, IconNode>

export type IconName = keyof typeof ICONS

export const isIconName = (name: string): name is IconName => Object.hasOwn(ICONS, name)

export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    {ICONS[name].map(([tag, attributes], i) => h(tag, { key: i, ...attributes }))}
  </svg>
)

/** A sieve: blocks fall in, and those that match come out. */
export const Logo = () => (
  <svg viewBox="0 0 24 24" aria-hidden="true">
    <rect width="24" height="24" rx="6" fill="var(--accent-fill)" />
    <g fill="#fff">
      <rect x="5" y="4.5" width="3.5" height="3.5" rx="1" />
      <rect x="10.25" y="4.5" width="3.5" height="3.5" rx="1" opacity="0.55" />
      <rect x="15.5" y="4.5" width="3.5" height="3.5" rx="1" opacity="0.55" />
      <path d="M4.5 10.5h15a.8.8 0 0 1 .7 1.2L17 16.2a.8.8 0 0 1-.7.4H7.7a.8.8 0 0 1-.7-.4l-3.2-4.5a.8.8 0 0 1 .7-1.2z" />
      <rect x="10.25" y="18.2" width="3.5" height="3.5" rx="1" />
    </g>
  </svg>
)
