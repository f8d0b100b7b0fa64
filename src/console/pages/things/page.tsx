import type { ComponentChildren, FunctionComponent } from 'preact'
import { useEffect } from 'preact/hooks'
import { Empty } from '../../parts/empty.tsx'
import { Hash, short } from '../../parts/hash.tsx'
import { plain } from '../../parts/visible.ts'
import type { PageProps } from '../../routes.ts'
import { useKey } from '../../shell/keys.ts'
import { Link, navigate } from '../../shell/router.tsx'
import { hrefOf } from '../../things.ts'

export interface ThingProps {
  network: string
  id: string
}

/** A page of one thing, which begins anew when its address leads to another one. */
export const thingPage =
  (Content: FunctionComponent<ThingProps>): FunctionComponent<PageProps> =>
  ({ parameters }) => {
    const parts = ['technology', 'blockchain', 'network'].map(name => parameters.get(name) ?? '')
    const id = parameters.get('id') ?? ''
    // A path of dots would lead the question elsewhere.
    if (parts.some(part => /^\.*$/.test(part))) return <Empty title="There is no such network" />
    const network = parts.map(encodeURIComponent).join('/')
    return (
      <div class="thing">
        <Content key={`${network} ${id}`} network={network} id={id} />
      </div>
    )
  }

interface HeadProps extends ThingProps {
  /** Such as `Block`. */
  what: string
  /** Shown instead of the id. */
  name?: ComponentChildren
  /** What the window is called by, instead of the id. */
  title?: string
  /** Kinds in which Explore looks for it. */
  kinds: string
  children?: ComponentChildren
}

export const Head = ({ network, id, what, name, title, kinds, children }: HeadProps) => {
  const called = plain(title ?? short(id)).slice(0, 60)
  useEffect(() => {
    document.title = `${what} ${called} · Chainsieve`
  }, [what, called])
  const query = new URLSearchParams({ network, q: id, kinds })
  return (
    <header class="thing-head">
      <h1>
        {what} {name ?? <Hash value={id} />}
      </h1>
      {children}
      <p class="dim">
        <span>{network}</span> <Link to={`/explore?${query}`}>Find in Explore</Link>
      </p>
    </header>
  )
}

interface StepProps {
  network: string
  kind: 'block' | 'tx'
  /** Such as `block` or `of the sender`. */
  what: string
  previous: string | undefined
  next: string | undefined
  keys: readonly [previous: string, next: string]
}

/** Leads to the neighbours, as far as they are held. */
export const Neighbours = ({ network, kind, what, previous, next, keys }: StepProps) => {
  const lead = (id: string | undefined) => () => {
    const href = id === undefined ? undefined : hrefOf(network, kind, id)
    if (href !== undefined) navigate(href)
  }
  useKey(keys[0], `Previous ${what}`, lead(previous))
  useKey(keys[1], `Next ${what}`, lead(next))
  const link = (id: string | undefined, text: string) => {
    const href = id === undefined ? undefined : hrefOf(network, kind, id)
    return href === undefined ? <span class="dim">{text}</span> : <Link to={href}>{text}</Link>
  }
  return (
    <nav class="neighbours" aria-label={`Neighbours: ${what}`}>
      {link(previous, `← Previous ${what}`)}
      {link(next, `Next ${what} →`)}
    </nav>
  )
}
