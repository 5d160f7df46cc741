import uPlot from 'uplot';
import { aloneIn, type Line } from '../presentation/figures.ts';

const clock = (seconds: number) => new Date(seconds * 1000).toLocaleTimeString('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false });

// Draws into an element until the returned function is called. Follows the width of the element and the colour scheme.
export function draw(element: HTMLElement, height: number, times: number[], series: Line[]): () => void {
  const colour = (name: string) => getComputedStyle(element).getPropertyValue(`--${name}`).trim();
  const dark = matchMedia('(prefers-color-scheme: dark)');
  let chart: uPlot | undefined;
  const make = () => {
    chart?.destroy();
    const axis = { stroke: colour('quiet'), grid: { stroke: colour('line'), width: 1 }, ticks: { stroke: colour('line') }, font: '12px system-ui' };
    chart = new uPlot(
      {
        width: Math.max(200, element.clientWidth), height, padding: [null, 28, null, null], legend: { show: false }, cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
        axes: [{ ...axis, space: 64, values: (_, ticks) => ticks.map(clock) }, { ...axis, size: 62, values: (_, ticks) => ticks.map((tick) => `${tick.toLocaleString('en')}${series[0]?.unit ?? ''}`) }],
        series: [{}, ...series.map((one) => ({ label: one.label, stroke: colour(one.tone), width: 2, spanGaps: false, dash: one.tone === 'bad' ? [6, 4] : [], points: { show: false, size: 6, fill: colour(one.tone), filter: () => aloneIn(one.values) } }))]
      },
      [times, ...series.map((one) => one.values)],
      element
    );
  };
  make();
  const observer = new ResizeObserver(() => chart?.setSize({ width: Math.max(200, element.clientWidth), height }));
  observer.observe(element);
  dark.addEventListener('change', make);
  return () => {
    observer.disconnect();
    dark.removeEventListener('change', make);
    chart?.destroy();
  };
}
