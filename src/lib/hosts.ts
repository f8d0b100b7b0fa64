/** `host:port` of each URL, which holds no key, or the path of a Unix socket; of several behind one host, the later ones with their number. */
export const hostsOf = (urls: readonly string[]): string[] => {
  const hosts = urls.map(url => new URL(url).host || new URL(url).pathname)
  return hosts.map((host, i) => {
    const before = hosts.slice(0, i).filter(other => other === host).length
    return before === 0 ? host : `${host}#${before + 1}`
  })
}
