import { useStatus } from '../api/status.ts'
import type { NetworkStatus, Status } from '../api/wire.ts'
import { chooseNetwork, useNetwork } from '../browser/network.ts'
import { theme, zone } from '../browser/preferences.ts'
import { Link, navigate, useAddress } from '../browser/router.tsx'
import { connection, signOut, useStore } from '../browser/state.ts'
import { Button } from '../parts/controls.tsx'
import { visibleText } from '../parts/format.ts'
import { Icon, isIconName, Logo } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { Time } from '../parts/text.tsx'
import { findPage, homeOf, PAGES } from '../routes.ts'
import { showKeys } from './keys.tsx'
import { JumpBox } from './search.tsx'

/** The pages; at the bottom of a narrow screen. */
export const SideBar = () => {
  const current = findPage(useAddress().path)?.page
  const { data } = useStatus()
  return (
    <div class="side">
      <a class="skip" href="#main">
        Skip to the contents
      </a>
      <nav aria-label="Pages">
        <Brand />
        {PAGES.map(page => {
          const home = homeOf(page)
          return (
            home !== undefined &&
            isIconName(page.name) &&
            page.name !== 'account' && (
              <Link key={page.name} to={home} current={page === current}>
                <Icon name={page.name} />
                {page.title}
                {data && <Badge page={page.name} status={data} />}
              </Link>
            )
          )
        })}
      </nav>
    </div>
  )
}

const Brand = () => (
  <div class="brand">
    <Logo />
    <span>Chainsieve</span>
  </div>
)

/** Number of current problems: of receivers at the rules, of networks at the status. */
const Badge = ({ page, status: { reasons = [], deliveries } }: { page: string; status: Status }) => {
  const failing = deliveries?.failing.length ?? 0
  const several = failing === 1 ? 'a receiver of alerts is failing' : `${failing} receivers of alerts are failing`
  const [count, said] =
    page === 'rules'
      ? [failing, several]
      : [
          reasons.length,
          reasons.map(it => `${it.network === undefined ? '' : `${it.network}: `}${it.reason}`).join('; '),
        ]
  if (count === 0 || (page !== 'rules' && page !== 'status')) return null
  return (
    <span class="badge" role="img" aria-label={visibleText(said)} title={visibleText(said)}>
      {count}
    </span>
  )
}

export const TopBar = () => {
  const { path } = useAddress()
  const { data } = useStatus()
  const names = data?.networks.map(it => it.network) ?? []
  const network = useNetwork(names)
  const chosenTheme = useStore(theme)
  const chosenZone = useStore(zone)
  const all = network === '' || names.includes(network) ? names : [network, ...names]
  return (
    <header class="topbar">
      <Brand />
      <JumpBox network={network} />
      <span class="spring" />
      <Menu
        class="quiet"
        name={`Network: ${network}`}
        label={
          <>
            <span class="chain">{network.split('/').slice(1).join(' ') || (data ? 'No network' : '…')}</span>
            <Icon name="down" />
          </>
        }
        items={all.map(title => ({
          title,
          checked: title === network,
          run: () => chooseNetwork(title, path),
        }))}
      />
      <Button
        class="quiet zone"
        label={chosenZone}
        name={`Times are ${chosenZone}: switch to ${chosenZone === 'UTC' ? 'local' : 'UTC'}`}
        onClick={() => zone.set(chosenZone === 'UTC' ? 'local' : 'UTC')}
      />
      <NetworkHealth status={data?.networks.find(it => it.network === network)} />
      <Menu
        class="quiet icon"
        name="Account and settings"
        label={<Icon name="account" />}
        items={[
          { title: 'Account', icon: 'account', run: () => navigate('/account') },
          { title: 'Keys', icon: 'more', run: showKeys },
          ...THEMES.map((it, i) => ({
            ...{ title: it.title, icon: it.name, checked: it.name === chosenTheme, run: () => theme.set(it.name) },
            ...(i === 0 && { group: 'Theme' }),
          })),
          { title: 'Sign out', group: '', run: () => signOut() },
        ]}
      />
    </header>
  )
}

const THEMES = [
  { name: 'system', title: 'As the system' },
  { name: 'light', title: 'Light' },
  { name: 'dark', title: 'Dark' },
] as const

const HEALTH_WORDS: Record<NetworkStatus['state'], [word: string, tone: string]> = {
  following: ['Live', 'good'],
  filling: ['Catching up', 'good'],
  serving: ['Stored', ''],
  stored: ['Stored', ''],
  waiting: ['Waiting', 'warn'],
  restarting: ['Restarting', 'warn'],
  stopped: ['Stopped', 'bad'],
}

/** Whether what is shown is fresh. */
const NetworkHealth = ({ status }: { status: NetworkStatus | undefined }) => {
  const { error, data } = useStatus()
  const { state } = useStore(connection)
  const problem = data?.reasons?.find(it => it.network === status?.network)
  const shown = () => {
    if (state === 'down') return ['Unreachable', 'bad']
    if (error !== undefined) return ['Unknown', 'bad']
    if (!status) return undefined
    const [word, tone] = HEALTH_WORDS[status.state]
    return problem && tone !== 'bad' ? ['Not live', 'warn'] : [word, tone]
  }
  const [word, tone] = shown() ?? []
  if (word === undefined) return null
  const block = status?.lastBlock
  return (
    <Link
      to="/status"
      class="health"
      title={block ? `Newest block: ${block.number.toLocaleString()}, ${block.time}` : undefined}
    >
      <span class={`dot ${tone}`} />
      {word}
    </Link>
  )
}

/** Why what is shown may be old. The page of the status says more. */
export const Banners = () => {
  const { state } = useStore(connection)
  const { data, error } = useStatus()
  const network = useNetwork(data?.networks.map(it => it.network) ?? [])
  const isStatus = findPage(useAddress().path)?.page.name === 'status'
  const reasons = isStatus ? [] : (data?.reasons?.filter(it => it.network === network) ?? [])
  return (
    <div role="alert" class="banners">
      {state === 'down' && (
        <p class="banner bad">
          The server does not answer: what is shown may be old. The console will go on when the server is back.
        </p>
      )}
      {state === 'up' && error !== undefined && data !== undefined && (
        <p class="banner bad">The status cannot be read: what is shown may be old.</p>
      )}
      {reasons.map(({ type, reason, since }) => (
        <p class="banner" key={type}>
          <span>
            Not live: {visibleText(reason)}
            {since !== undefined && ', since '}
            {since !== undefined && <Time value={since} />}.
          </span>
          <Link to="/status">Show the status</Link>
        </p>
      ))}
    </div>
  )
}
