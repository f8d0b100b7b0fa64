import type { ComponentChildren } from 'preact'
import { consoleUrl, createStore, useStore } from './state.ts'

/** The route: path below `/console`, such as `/explore`, and query string. */
interface ConsoleAddress {
  path: string
  query: string
}

const readAddress = (): ConsoleAddress => ({
  path: location.pathname.slice(consoleUrl.length) || '/',
  query: location.search,
})

const currentAddress = createStore<ConsoleAddress>(readAddress())
addEventListener('popstate', () => currentAddress.set(readAddress()))

export const useAddress = (): ConsoleAddress => useStore(currentAddress)

/** `to` is relative to `/console`. */
export const navigate = (to: string, { replace = false } = {}) => {
  const url = `${consoleUrl}${to}`
  if (url === location.pathname + location.search) return
  history[replace ? 'replaceState' : 'pushState'](null, '', url)
  currentAddress.set(readAddress())
}

/** Changes query parameters; empty values are removed. */
export const setQuery = (values: Record<string, string | undefined>, options?: { replace?: boolean }) => {
  const parameters = new URLSearchParams(location.search)
  for (const [name, value] of Object.entries(values))
    if (value) parameters.set(name, value)
    else parameters.delete(name)
  const query = parameters.toString()
  navigate(`${readAddress().path}${query && `?${query}`}`, options)
}

/** State kept in the address, so that links reproduce the page. */
export const useQueryState = (
  name: string,
  fallback = '',
): [value: string, set: (value: string, options?: { replace?: boolean }) => void] => {
  const { query } = useAddress()
  const value = new URLSearchParams(query).get(name) ?? fallback
  return [value, (next, options) => setQuery({ [name]: next === fallback ? '' : next }, options)]
}

interface LinkProps {
  to: string
  class?: string | undefined
  title?: string | undefined
  /** Accessible name if the children are not enough. */
  label?: string
  current?: boolean
  children: ComponentChildren
}

/** Navigates without a page load, except with modifier keys. */
export const Link = ({ to, label, current = false, children, ...rest }: LinkProps) => (
  <a
    {...rest}
    href={`${consoleUrl}${to}`}
    aria-label={label}
    aria-current={current ? 'page' : undefined}
    onClick={event => {
      if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
      event.preventDefault()
      navigate(to)
    }}
  >
    {children}
  </a>
)
