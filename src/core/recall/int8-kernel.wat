;; Dot products of one int8 query with many int8 rows, 16 lanes at a time.
;; Compiled form: the constant in int8-kernel.ts (test/core/int8-kernel.test.ts compiles this file and compares).
;; Sums stay exact: 127 * 127 * 65 536 dimensions would still fit an i32.
(module
  (memory (import "env" "memory") 1)
  (func (export "dot") (param $query i32) (param $rows i32) (param $count i32) (param $dimensions i32) (param $out i32)
    (local $i i32) (local $q i32) (local $end i32)
    (local $sum v128) (local $a v128) (local $b v128)
    (block $done
      (loop $row
        (br_if $done (i32.ge_u (local.get $i) (local.get $count)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $q (local.get $query))
        (local.set $end (i32.add (local.get $rows) (local.get $dimensions)))
        (loop $lanes
          (local.set $a (v128.load (local.get $rows)))
          (local.set $b (v128.load (local.get $q)))
          (local.set $sum
            (i32x4.add (local.get $sum)
              (i32x4.add
                (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_low_i8x16_s (local.get $a) (local.get $b)))
                (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_high_i8x16_s (local.get $a) (local.get $b))))))
          (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
          (local.set $q (i32.add (local.get $q) (i32.const 16)))
          (br_if $lanes (i32.lt_u (local.get $rows) (local.get $end))))
        (i32.store (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br $row)))))
